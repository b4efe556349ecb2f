#include <curl/curl.h>

/* Swift cannot call variadic functions: each of these fixes the type that libcurl expects for a group of options. */

typedef size_t (*rind_data_callback)(char *, size_t, size_t, void *);
typedef int (*rind_seek_callback)(void *, curl_off_t, int);
typedef int (*rind_prereq_callback)(void *, char *, char *, int, int);

/* The version of the library that is loaded, such as 0x080100. */
static inline unsigned int rind_version(void) { return curl_version_info(CURLVERSION_NOW)->version_num; }

static inline CURLcode rind_easy_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode rind_easy_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode rind_easy_set_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode rind_easy_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode rind_easy_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode rind_easy_set_data_callback(CURL *easy, CURLoption option, rind_data_callback value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode rind_easy_set_seek_callback(CURL *easy, rind_seek_callback value) {
    return curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, value);
}

static inline CURLcode rind_easy_set_prereq_callback(CURL *easy, rind_prereq_callback value) {
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, value);
}

static inline void *rind_easy_private(CURL *easy) {
    char *value = NULL;
    return curl_easy_getinfo(easy, CURLINFO_PRIVATE, &value) == CURLE_OK ? value : NULL;
}

/* How many connections a transfer has opened; -1 where libcurl does not say. */
static inline long rind_easy_connection_count(CURL *easy) {
    long count = 0;
    return curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, &count) == CURLE_OK ? count : -1;
}

/* The socket of a connection that was made with CURLOPT_CONNECT_ONLY; CURL_SOCKET_BAD if it is gone. */
static inline curl_socket_t rind_easy_socket(CURL *easy) {
    curl_socket_t socket = CURL_SOCKET_BAD;
    return curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &socket) == CURLE_OK ? socket : CURL_SOCKET_BAD;
}

typedef int (*rind_socket_callback)(void *, curl_socket_t, curlsocktype);

static inline CURLcode rind_easy_set_socket_callback(CURL *easy, rind_socket_callback value) {
    return curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, value);
}

static inline CURLMcode rind_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}
