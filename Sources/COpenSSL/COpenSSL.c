#define _GNU_SOURCE
#include "COpenSSL.h"

#include <malloc.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// --- memory

// Idle connections keep no buffers for records, so that each record needs one for a moment. A few
// of that size are kept: to the system's allocator they are large, and taking and giving them back
// each time costs more than reading a short record, and leaves holes between what stays.
enum { RECORD = 18432, KEPT = 4 };
static _Thread_local void *kept[KEPT];
static _Thread_local int kept_count;

static void *take(size_t count, const char *file, int line) {
    (void)file, (void)line;
    if (count == 0) return NULL;
    if (count <= 16384 || count > RECORD) return malloc(count);
    return kept_count > 0 ? kept[--kept_count] : malloc(RECORD);
}

static void *resize(void *memory, size_t count, const char *file, int line) {
    (void)file, (void)line;
    return realloc(memory, count);
}

static void give(void *memory, const char *file, int line) {
    (void)file, (void)line;
    // Often: all of an error that are not there.
    if (!memory) return;
    size_t count = malloc_usable_size(memory);
    if (count >= RECORD && count < RECORD + 64 && kept_count < KEPT)
        kept[kept_count++] = memory;
    else
        free(memory);
}

// Before anything of OpenSSL is used; where that was too late nothing changes.
__attribute__((constructor)) static void keep_buffers(void) {
    CRYPTO_set_mem_functions(take, resize, give);
}

// --- contexts and sessions

int copenssl_context_defaults(SSL_CTX *context) {
    SSL_CTX_set_mode(
        context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                     SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    // A peer that closes without saying so has closed: whatever is sent here knows its length.
    SSL_CTX_set_options(
        context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET |
                     SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    // One call of the system for a record, not one for its head and one for the rest.
    SSL_CTX_set_read_ahead(context, 1);
    return SSL_CTX_set_num_tickets(context, 0) == 1 &&
           SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1;
}

void copenssl_prefer_own_suites(SSL_CTX *context) {
    SSL_CTX_set_options(context, SSL_OP_CIPHER_SERVER_PREFERENCE);
}

int copenssl_add_chain(SSL_CTX *context, X509 *certificate) {
    return (int)SSL_CTX_add1_chain_cert(context, certificate);
}

int copenssl_set_server_name(SSL *session, const char *name) {
    return (int)SSL_set_tlsext_host_name(session, name);
}

// --- keys and signatures

EVP_PKEY *copenssl_make_p256(void) { return EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256"); }

EVP_PKEY *copenssl_make_ed25519(void) { return EVP_PKEY_Q_keygen(NULL, NULL, "ED25519"); }

EVP_PKEY *copenssl_p256_from_point(const unsigned char *point, size_t count) {
    char group[] = "P-256";
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string("group", group, 0),
        OSSL_PARAM_construct_octet_string("pub", (void *)point, count),
        OSSL_PARAM_construct_end(),
    };
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
    if (!context || EVP_PKEY_fromdata_init(context) != 1 ||
        EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters) != 1)
        key = NULL;
    EVP_PKEY_CTX_free(context);
    return key;
}

int copenssl_signature_to_der(
    const unsigned char raw[64], unsigned char *der, size_t capacity) {
    ECDSA_SIG *signature = ECDSA_SIG_new();
    BIGNUM *r = BN_bin2bn(raw, 32, NULL), *s = BN_bin2bn(raw + 32, 32, NULL);
    int count = -1;
    if (signature && r && s && ECDSA_SIG_set0(signature, r, s) == 1) {
        r = s = NULL;
        count = i2d_ECDSA_SIG(signature, NULL);
        if (count > 0 && (size_t)count <= capacity)
            count = i2d_ECDSA_SIG(signature, &der);
        else
            count = -1;
    }
    BN_free(r);
    BN_free(s);
    ECDSA_SIG_free(signature);
    return count;
}

int copenssl_signature_from_der(
    const unsigned char *der, size_t count, unsigned char raw[64]) {
    ECDSA_SIG *signature = d2i_ECDSA_SIG(NULL, &der, (long)count);
    if (!signature) return -1;
    const BIGNUM *r, *s;
    ECDSA_SIG_get0(signature, &r, &s);
    int fits = BN_bn2binpad(r, raw, 32) == 32 && BN_bn2binpad(s, raw + 32, 32) == 32;
    ECDSA_SIG_free(signature);
    return fits ? 64 : -1;
}

// --- AES-SIV

static EVP_CIPHER_CTX *siv(const unsigned char key[32], int sealing) {
    EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, "AES-128-SIV", NULL);
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    int ready = cipher && context &&
                EVP_CipherInit_ex2(context, cipher, key, NULL, sealing, NULL) == 1;
    EVP_CIPHER_free(cipher);
    if (ready) return context;
    EVP_CIPHER_CTX_free(context);
    return NULL;
}

int copenssl_siv_seal(
    const unsigned char key[32], const unsigned char *associated, size_t associated_count,
    const unsigned char *plain, size_t count, unsigned char *sealed) {
    EVP_CIPHER_CTX *context = siv(key, 1);
    int written = 0;
    int done =
        context &&
        (associated_count == 0 ||
         EVP_CipherUpdate(context, NULL, &written, associated, (int)associated_count) == 1) &&
        EVP_CipherUpdate(context, sealed + 16, &written, plain, (int)count) == 1 &&
        EVP_CipherFinal_ex(context, sealed + 16 + written, &written) == 1 &&
        EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, sealed) == 1;
    EVP_CIPHER_CTX_free(context);
    return done;
}

int copenssl_siv_open(
    const unsigned char key[32], const unsigned char *associated, size_t associated_count,
    const unsigned char *sealed, size_t count, unsigned char *plain) {
    if (count < 16) return 0;
    EVP_CIPHER_CTX *context = siv(key, 0);
    int written = 0;
    int done =
        context &&
        EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 16, (void *)sealed) == 1 &&
        (associated_count == 0 ||
         EVP_CipherUpdate(context, NULL, &written, associated, (int)associated_count) == 1) &&
        EVP_CipherUpdate(context, plain, &written, sealed + 16, (int)(count - 16)) == 1 &&
        EVP_CipherFinal_ex(context, plain + written, &written) == 1;
    EVP_CIPHER_CTX_free(context);
    if (!done) ERR_clear_error();
    return done;
}

// --- certificates

int64_t copenssl_seconds(const ASN1_TIME *time) {
    struct tm broken;
    if (!time || ASN1_TIME_to_tm(time, &broken) != 1) return INT64_MIN;
    return (int64_t)timegm(&broken);
}

int copenssl_set_validity(X509 *certificate, int64_t from, int64_t until) {
    return ASN1_TIME_set(X509_getm_notBefore(certificate), (time_t)from) != NULL &&
           ASN1_TIME_set(X509_getm_notAfter(certificate), (time_t)until) != NULL;
}

int copenssl_set_serial(X509 *certificate, const unsigned char *bytes, size_t count) {
    BIGNUM *number = BN_bin2bn(bytes, (int)count, NULL);
    int done = number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != NULL;
    BN_free(number);
    return done;
}

int copenssl_add_extension(X509 *certificate, X509 *issuer, int number, const char *value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, number, value);
    int done = extension && X509_add_ext(certificate, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return done;
}

int copenssl_add_raw_extension(
    X509 *certificate, const char *number, const unsigned char *value, size_t count) {
    ASN1_OBJECT *object = OBJ_txt2obj(number, 1);
    ASN1_OCTET_STRING *data = ASN1_OCTET_STRING_new();
    X509_EXTENSION *extension = NULL;
    int done = object && data && ASN1_OCTET_STRING_set(data, value, (int)count) == 1 &&
               (extension = X509_EXTENSION_create_by_OBJ(NULL, object, 0, data)) != NULL &&
               X509_add_ext(certificate, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    ASN1_OCTET_STRING_free(data);
    ASN1_OBJECT_free(object);
    return done;
}

int copenssl_is_address(const char *host) {
    ASN1_OCTET_STRING *address = a2i_IPADDRESS(host);
    if (!address) ERR_clear_error();
    ASN1_OCTET_STRING_free(address);
    return address != NULL;
}

void copenssl_free(void *memory) { OPENSSL_free(memory); }

// --- input, output, errors

int copenssl_is_at_end_of_pem(void) {
    unsigned long error = ERR_peek_last_error();
    if (ERR_GET_LIB(error) != ERR_LIB_PEM || ERR_GET_REASON(error) != PEM_R_NO_START_LINE)
        return 0;
    ERR_clear_error();
    return 1;
}

int copenssl_trust(X509_STORE *store, BIO *text, const char *directory) {
    X509_STORE_set_flags(store, X509_V_FLAG_TRUSTED_FIRST | X509_V_FLAG_PARTIAL_CHAIN);
    STACK_OF(X509_INFO) *all = PEM_X509_INFO_read_bio(text, NULL, NULL, NULL);
    if (all == NULL)
        return 0;
    int is_well = 1;
    for (int i = 0; is_well && i < sk_X509_INFO_num(all); i++) {
        X509_INFO *one = sk_X509_INFO_value(all, i);
        if (one->x509 != NULL)
            is_well = X509_STORE_add_cert(store, one->x509);
        if (is_well && one->crl != NULL)
            is_well = X509_STORE_add_crl(store, one->crl);
    }
    sk_X509_INFO_pop_free(all, X509_INFO_free);
    if (is_well && directory != NULL)
        is_well = X509_STORE_load_path(store, directory);
    return is_well;
}

size_t copenssl_bio_contents(BIO *bio, const unsigned char **bytes) {
    char *start = NULL;
    long count = BIO_get_mem_data(bio, &start);
    *bytes = (const unsigned char *)start;
    return count > 0 ? (size_t)count : 0;
}

// Clearing looks at all that could be there, a few hundred steps for each record; asking is cheap.
void copenssl_forget_errors(void) {
    if (ERR_peek_error() != 0) ERR_clear_error();
}

unsigned long copenssl_take_error(char *text, size_t capacity) {
    const char *detail = NULL;
    int flags = 0;
    unsigned long error = ERR_get_error_all(NULL, NULL, NULL, &detail, &flags);
    text[0] = 0;
    if (error != 0) {
        const char *reason = ERR_reason_error_string(error);
        strncpy(text, reason ? reason : "unknown error", capacity - 1);
        text[capacity - 1] = 0;
        size_t used = strlen(text);
        if ((flags & ERR_TXT_STRING) && detail && *detail && used + 3 < capacity) {
            strcpy(text + used, ": ");
            strncpy(text + used + 2, detail, capacity - used - 3);
            text[capacity - 1] = 0;
        }
    }
    ERR_clear_error();
    return error;
}

X509 *copenssl_shown_certificate(SSL *session) {
    STACK_OF(X509) *chain = SSL_get0_verified_chain(session);
    X509 *first = chain ? sk_X509_value(chain, 0) : NULL;
    if (first) X509_up_ref(first);
    return first;
}

int copenssl_has_left_unanswered(SSL *session) {
    if (BIO_number_written(SSL_get_wbio(session)) > 0) return 0;
    struct pollfd polled = {.fd = SSL_get_fd(session), .events = POLLRDHUP};
    return poll(&polled, 1, 0) > 0;
}

int copenssl_error_is_certificate(unsigned long error) {
    return ERR_GET_LIB(error) == ERR_LIB_SSL &&
           ERR_GET_REASON(error) == SSL_R_CERTIFICATE_VERIFY_FAILED;
}
