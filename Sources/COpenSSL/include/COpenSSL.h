#pragma once
#include <stdint.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

// What Swift cannot call by itself: macros and variadic functions.

/// Sets what every context of ours has: TLS 1.2 or later, no compression, no renegotiation, no
/// session kept or resumed, no buffer kept by an idle connection, writes that may be cut short.
int copenssl_context_defaults(SSL_CTX *context);
/// A server takes the suite that it, not the client, wants most.
void copenssl_prefer_own_suites(SSL_CTX *context);
/// Takes the chain above the certificate, without taking it over.
int copenssl_add_chain(SSL_CTX *context, X509 *certificate);
/// The certificate of the peer whose chain was looked at, taken or not; null when there is none.
/// To be freed.
X509 *copenssl_shown_certificate(SSL *session);
/// Whether the peer has closed its side and nothing was sent to it yet.
int copenssl_has_left_unanswered(SSL *session);
int copenssl_set_server_name(SSL *session, const char *name);

/// A new key pair; null when it cannot be had.
EVP_PKEY *copenssl_make_p256(void);
EVP_PKEY *copenssl_make_ed25519(void);
/// The public key of a point in the uncompressed form of SEC 1 (65 bytes); null if it is none.
EVP_PKEY *copenssl_p256_from_point(const unsigned char *point, size_t count);

/// The DER form of an ECDSA signature from its two numbers (32 bytes each), and back; the number of
/// bytes written, or -1.
int copenssl_signature_to_der(
    const unsigned char raw[64], unsigned char *der, size_t capacity);
int copenssl_signature_from_der(
    const unsigned char *der, size_t count, unsigned char raw[64]);

/// AES-128-SIV (RFC 5297): 16 bytes of tag, then as many as the plain text has. 1, or 0 on failure.
int copenssl_siv_seal(
    const unsigned char key[32], const unsigned char *associated, size_t associated_count,
    const unsigned char *plain, size_t count, unsigned char *sealed);
/// 1 when it is authentic, else 0.
int copenssl_siv_open(
    const unsigned char key[32], const unsigned char *associated, size_t associated_count,
    const unsigned char *sealed, size_t count, unsigned char *plain);

/// Seconds since 1970; INT64_MIN for a time that cannot be read.
int64_t copenssl_seconds(const ASN1_TIME *time);
int copenssl_set_validity(X509 *certificate, int64_t from, int64_t until);
int copenssl_set_serial(X509 *certificate, const unsigned char *bytes, size_t count);
/// Adds a standard extension, its value as in OpenSSL's configuration.
int copenssl_add_extension(X509 *certificate, X509 *issuer, int number, const char *value);
/// Adds one by its number ("1.2.3") and DER bytes.
int copenssl_add_raw_extension(
    X509 *certificate, const char *number, const unsigned char *value, size_t count);
/// Whether a host is an IPv4 or IPv6 address.
int copenssl_is_address(const char *host);
void copenssl_free(void *memory);

/// Whether the last error is that a PEM text has no further object; then it is cleared.
int copenssl_is_at_end_of_pem(void);

/// Has the store trust the certificates of a PEM text, and of a directory whose files are named by
/// the hash of their subject, read when they are asked for; null: none. 1, or 0 on failure. As
/// libcurl would have it, which parses them for each connection.
int copenssl_trust(X509_STORE *store, BIO *text, const char *directory);

/// What a memory BIO holds; owned by it.
size_t copenssl_bio_contents(BIO *bio, const unsigned char **bytes);

/// Empties the thread's queue of errors, as must be done before each call on a session.
void copenssl_forget_errors(void);

/// The text of the oldest error in the thread's queue into `text`, and its reason; the queue is
/// cleared. 0 when there was none.
unsigned long copenssl_take_error(char *text, size_t capacity);
int copenssl_error_is_certificate(unsigned long error);
