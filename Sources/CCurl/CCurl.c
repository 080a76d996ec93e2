#include "CCurl.h"
#include "CLateLibrary.h"

#ifdef __APPLE__
static const char *const names[] = {"libcurl.4.dylib", "/usr/lib/libcurl.4.dylib", NULL};
#else
static const char *const names[] = {"libcurl.so.4", NULL};
#endif

static struct clate_library library = {names, NULL};

int ccurl_open(void) { return clate_open(&library); }

#define FOUND(name) CLATE_FOUND(library, name)

// libcurl calls its functions by the same names: it must not find ours.
#pragma GCC visibility push(hidden)

CURLcode curl_global_init(long flags) { return ccurl_open() ? FOUND(curl_global_init)(flags) : CURLE_FAILED_INIT; }
void curl_global_cleanup(void) {
    if (ccurl_open()) FOUND(curl_global_cleanup)();
}
curl_version_info_data *curl_version_info(CURLversion age) {
    return ccurl_open() ? FOUND(curl_version_info)(age) : NULL;
}
void curl_free(void *memory) { FOUND(curl_free)(memory); }
time_t curl_getdate(const char *text, const time_t *unused) {
    return ccurl_open() ? FOUND(curl_getdate)(text, unused) : -1;
}
struct curl_slist *curl_slist_append(struct curl_slist *list, const char *line) {
    return ccurl_open() ? FOUND(curl_slist_append)(list, line) : NULL;
}
void curl_slist_free_all(struct curl_slist *list) {
    if (list) FOUND(curl_slist_free_all)(list);
}

CURLU *curl_url(void) { return ccurl_open() ? FOUND(curl_url)() : NULL; }
void curl_url_cleanup(CURLU *url) { FOUND(curl_url_cleanup)(url); }
CURLUcode ccurl_url_get(CURLU *url, CURLUPart part, char **text, unsigned int flags) {
    return FOUND(curl_url_get)(url, part, text, flags);
}
CURLUcode curl_url_set(CURLU *url, CURLUPart part, const char *text, unsigned int flags) {
    return FOUND(curl_url_set)(url, part, text, flags);
}

CURL *curl_easy_init(void) { return ccurl_open() ? FOUND(curl_easy_init)() : NULL; }
void curl_easy_cleanup(CURL *easy) { FOUND(curl_easy_cleanup)(easy); }
CURLcode curl_easy_pause(CURL *easy, int bits) { return FOUND(curl_easy_pause)(easy, bits); }
CURLcode curl_easy_perform(CURL *easy) { return FOUND(curl_easy_perform)(easy); }
void curl_easy_reset(CURL *easy) { FOUND(curl_easy_reset)(easy); }
const char *curl_easy_strerror(CURLcode code) { return FOUND(curl_easy_strerror)(code); }

CURLM *curl_multi_init(void) { return ccurl_open() ? FOUND(curl_multi_init)() : NULL; }
CURLMcode curl_multi_cleanup(CURLM *multi) { return FOUND(curl_multi_cleanup)(multi); }
CURLMcode curl_multi_add_handle(CURLM *multi, CURL *easy) { return FOUND(curl_multi_add_handle)(multi, easy); }
CURLMcode curl_multi_remove_handle(CURLM *multi, CURL *easy) { return FOUND(curl_multi_remove_handle)(multi, easy); }
CURLMsg *curl_multi_info_read(CURLM *multi, int *left) { return FOUND(curl_multi_info_read)(multi, left); }
CURLMcode curl_multi_perform(CURLM *multi, int *running) { return FOUND(curl_multi_perform)(multi, running); }
CURLMcode curl_multi_poll(
    CURLM *multi, struct curl_waitfd descriptors[], unsigned int count, int milliseconds, int *ready) {
    return FOUND(curl_multi_poll)(multi, descriptors, count, milliseconds, ready);
}
CURLMcode curl_multi_wakeup(CURLM *multi) { return FOUND(curl_multi_wakeup)(multi); }

#pragma GCC visibility pop

CURLcode ccurl_set_long(CURL *easy, CURLoption option, long value) {
    return FOUND(curl_easy_setopt)(easy, option, value);
}

CURLcode ccurl_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return FOUND(curl_easy_setopt)(easy, option, value);
}

CURLcode ccurl_set_string(CURL *easy, CURLoption option, const char *value) {
    return FOUND(curl_easy_setopt)(easy, option, value);
}

CURLcode ccurl_set_pointer(CURL *easy, CURLoption option, const void *value) {
    return FOUND(curl_easy_setopt)(easy, option, value);
}

CURLcode ccurl_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return FOUND(curl_easy_setopt)(easy, option, value);
}

CURLcode ccurl_set_write(CURL *easy, CURLoption option, curl_write_callback callback) {
    return FOUND(curl_easy_setopt)(easy, option, callback);
}

CURLcode ccurl_set_read(CURL *easy, curl_read_callback callback) {
    return FOUND(curl_easy_setopt)(easy, CURLOPT_READFUNCTION, callback);
}

CURLcode ccurl_set_seek(CURL *easy, curl_seek_callback callback) {
    return FOUND(curl_easy_setopt)(easy, CURLOPT_SEEKFUNCTION, callback);
}

CURLcode ccurl_set_progress(CURL *easy, curl_xferinfo_callback callback) {
    return FOUND(curl_easy_setopt)(easy, CURLOPT_XFERINFOFUNCTION, callback);
}

CURLcode ccurl_set_debug(CURL *easy, curl_debug_callback callback) {
    return FOUND(curl_easy_setopt)(easy, CURLOPT_DEBUGFUNCTION, callback);
}

CURLcode ccurl_set_prerequest(CURL *easy, curl_prereq_callback callback) {
    return FOUND(curl_easy_setopt)(easy, CURLOPT_PREREQFUNCTION, callback);
}

CURLcode ccurl_set_open_socket(CURL *easy, curl_opensocket_callback callback) {
    return FOUND(curl_easy_setopt)(easy, CURLOPT_OPENSOCKETFUNCTION, callback);
}

CURLcode ccurl_get_long(CURL *easy, CURLINFO info, long *value) {
    return FOUND(curl_easy_getinfo)(easy, info, value);
}

CURLcode ccurl_get_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
    return FOUND(curl_easy_getinfo)(easy, info, value);
}

CURLcode ccurl_get_pointer(CURL *easy, CURLINFO info, void **value) {
    return FOUND(curl_easy_getinfo)(easy, info, value);
}

CURLMcode ccurl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return FOUND(curl_multi_setopt)(multi, option, value);
}
