#pragma once
#include <curl/curl.h>

/* The calls of libcurl that set and ask options are variadic, which Swift cannot call. */

static inline CURLcode ccurl_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_copied_bytes(
    CURL *easy, CURLoption option, const void *bytes, size_t count) {
    struct curl_blob blob = {(void *)bytes, count, CURL_BLOB_COPY};
    return curl_easy_setopt(easy, option, &blob);
}

static inline CURLcode ccurl_set_writer(CURL *easy, CURLoption option, curl_write_callback body) {
    return curl_easy_setopt(easy, option, body);
}

static inline CURLcode ccurl_set_context_preparer(CURL *easy, curl_ssl_ctx_callback body) {
    return curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, body);
}

static inline CURLcode ccurl_set_announcer(CURL *easy, curl_prereq_callback body) {
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, body);
}

static inline CURLcode ccurl_get_string(CURL *easy, CURLINFO what, const char **value) {
    return curl_easy_getinfo(easy, what, value);
}

static inline CURLcode ccurl_get_pointer(CURL *easy, CURLINFO what, char **value) {
    return curl_easy_getinfo(easy, what, value);
}

static inline CURLcode ccurl_get_long(CURL *easy, CURLINFO what, long *value) {
    return curl_easy_getinfo(easy, what, value);
}

static inline CURLcode ccurl_get_offset(CURL *easy, CURLINFO what, curl_off_t *value) {
    return curl_easy_getinfo(easy, what, value);
}

static inline CURLMcode ccurl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

static inline CURLMcode ccurl_multi_set_pointer(CURLM *multi, CURLMoption option, void *value) {
    return curl_multi_setopt(multi, option, value);
}

static inline CURLMcode ccurl_multi_set_socket(CURLM *multi, curl_socket_callback body) {
    return curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, body);
}

static inline CURLMcode ccurl_multi_set_timer(CURLM *multi, curl_multi_timer_callback body) {
    return curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, body);
}

/* Macros with a cast, which Swift does not see. */
static const size_t ccurl_write_pause = CURL_WRITEFUNC_PAUSE;
static const size_t ccurl_read_abort = CURL_READFUNC_ABORT;

/* Where libcurl was built to look for certificates of authorities; NULL: nowhere. */
static inline const char *ccurl_authority_file(void) {
    return curl_version_info(CURLVERSION_NOW)->cainfo;
}

static inline const char *ccurl_authority_directory(void) {
    return curl_version_info(CURLVERSION_NOW)->capath;
}
