// libcurl, opened by the first call: no program is linked with it (CLateLibrary.h).
//
// What is called of it is defined in CCurl.c under libcurl's own names. Its curl_easy_setopt, curl_easy_getinfo and
// curl_multi_setopt are variadic, which Swift cannot call: each wrapper below fixes the type of the last argument, as
// https://curl.se/libcurl/c/curl_easy_setopt.html names it.
#ifndef PIPELINE_CCURL_H
#define PIPELINE_CCURL_H

#define CURL_DISABLE_TYPECHECK 1
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#if LIBCURL_VERSION_NUM < 0x075800
#error "libcurl 7.88 or newer is needed"
#endif

// Opens libcurl; 0 when the machine has none. Without it nothing can be made or set up: curl_global_init fails, and
// curl_easy_init, curl_multi_init, curl_url and curl_version_info return NULL. No other function may be called then.
int ccurl_open(void);

// What a machine without libcurl lacks, as errno(3) has it.
static inline int ccurl_missing(void) {
#ifdef ELIBACC
    return ELIBACC;
#else
    return ENOENT;
#endif
}

// libcurl 8 declares the URL const, older ones do not.
CURLUcode ccurl_url_get(CURLU *url, CURLUPart part, char **text, unsigned int flags);

CURLcode ccurl_set_long(CURL *easy, CURLoption option, long value);
CURLcode ccurl_set_offset(CURL *easy, CURLoption option, curl_off_t value);
CURLcode ccurl_set_string(CURL *easy, CURLoption option, const char *value);
CURLcode ccurl_set_pointer(CURL *easy, CURLoption option, const void *value);
CURLcode ccurl_set_list(CURL *easy, CURLoption option, struct curl_slist *value);
CURLcode ccurl_set_write(CURL *easy, CURLoption option, curl_write_callback callback);
CURLcode ccurl_set_read(CURL *easy, curl_read_callback callback);
CURLcode ccurl_set_seek(CURL *easy, curl_seek_callback callback);
CURLcode ccurl_set_progress(CURL *easy, curl_xferinfo_callback callback);
CURLcode ccurl_set_debug(CURL *easy, curl_debug_callback callback);
CURLcode ccurl_set_prerequest(CURL *easy, curl_prereq_callback callback);
CURLcode ccurl_set_open_socket(CURL *easy, curl_opensocket_callback callback);

// Sockets must not leak into programs that the process starts: libcurl 7.88 does not set close-on-exec itself.
static inline int ccurl_open_socket(const struct curl_sockaddr *address) {
#ifdef SOCK_CLOEXEC
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
#else
    int descriptor = socket(address->family, address->socktype, address->protocol);
    if(descriptor >= 0)
        (void)fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    return descriptor;
#endif
}

// Writes the bytes of an IP address in the order of the network, and returns how many they are; 0 for no IP address.
static inline int ccurl_address_bytes(const struct curl_sockaddr *address, unsigned char bytes[16]) {
    switch(address->addr.sa_family) {
    case AF_INET: memcpy(bytes, &((const struct sockaddr_in *)(const void *)&address->addr)->sin_addr, 4); return 4;
    case AF_INET6: memcpy(bytes, &((const struct sockaddr_in6 *)(const void *)&address->addr)->sin6_addr, 16); return 16;
    default: return 0;
    }
}

static inline curl_socket_t ccurl_open_any_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address) {
    (void)context;
    (void)purpose;
    return ccurl_open_socket(address);
}

static inline CURLcode ccurl_set_close_on_exec(CURL *easy) {
    return ccurl_set_open_socket(easy, ccurl_open_any_socket);
}

// Has a mail go to those recipients whom the server takes; libcurl before 8.2 spells the option with one more L.
static inline CURLcode ccurl_allow_refused_recipients(CURL *easy) {
#if LIBCURL_VERSION_NUM < 0x080200
    return ccurl_set_long(easy, CURLOPT_MAIL_RCPT_ALLLOWFAILS, 1);
#else
    return ccurl_set_long(easy, CURLOPT_MAIL_RCPT_ALLOWFAILS, 1);
#endif
}

// The port at this end of a socket; -1 when it has none.
static inline int ccurl_local_port(int descriptor) {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } address;
    socklen_t length = sizeof(address);
    if(getsockname(descriptor, &address.any, &length))
        return -1;
    switch(address.any.sa_family) {
    case AF_INET: return ntohs(address.v4.sin_port);
    case AF_INET6: return ntohs(address.v6.sin6_port);
    default: return -1;
    }
}

// Makes a connection fit for a path whose round trip is long. What it sends is spread over the round trip, where otherwise
// all that may be on its way would follow in one go after each silence, more than the buffers of the path hold; a limit of
// the rate, here one that is never reached, is what Linux takes for the wish (tc-fq(8), SO_MAX_PACING_RATE). And no more
// waits in the kernel than is about to go out, so that what was handed over has all but gone (tcp(7), TCP_NOTSENT_LOWAT).
// What the system doesn't know or allow stays as it was.
static inline void ccurl_fit_far_path(int descriptor) {
#ifdef SO_MAX_PACING_RATE
    unsigned int rate = 0xFFFFFFFEU;
    (void)setsockopt(descriptor, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof(rate));
#endif
#ifdef TCP_NOTSENT_LOWAT
    unsigned int unsent = 512 << 10;
    (void)setsockopt(descriptor, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof(unsent));
#endif
    (void)descriptor;
}

CURLcode ccurl_get_long(CURL *easy, CURLINFO info, long *value);
CURLcode ccurl_get_offset(CURL *easy, CURLINFO info, curl_off_t *value);
CURLcode ccurl_get_pointer(CURL *easy, CURLINFO info, void **value);
CURLMcode ccurl_multi_set_long(CURLM *multi, CURLMoption option, long value);

// The result of a finished transfer stands in a union that Swift imports awkwardly.
static inline CURLcode ccurl_message_result(const CURLMsg *message) {
    return message->data.result;
}

static inline long ccurl_global_defaults(void) {
    return CURL_GLOBAL_DEFAULT;
}

#endif
