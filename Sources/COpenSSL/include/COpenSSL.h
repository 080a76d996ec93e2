// SHA-256 with a state that can be kept and taken up again, which swift-crypto and OpenSSL's own EVP interface hide.
// These functions are deprecated in favour of EVP since OpenSSL 3.0 and documented still
// (https://docs.openssl.org/3.0/man3/SHA256_Init/); they use the processor's own instructions as EVP does. libcurl
// brings the library into the process anyway; as that, it is opened by the first call (CLateLibrary.h).
#ifndef PIPELINE_COPENSSL_H
#define PIPELINE_COPENSSL_H

#define OPENSSL_SUPPRESS_DEPRECATED 1
#include <openssl/sha.h>

void copenssl_sha256_begin(SHA256_CTX *context);

// Goes on behind a number of whole blocks whose chaining value (FIPS 180-4, section 6.2) is given.
void copenssl_sha256_go_on(SHA256_CTX *context, const unsigned int *words, unsigned long long bytes);

// The chaining value behind the last whole block.
void copenssl_sha256_words(const SHA256_CTX *context, unsigned int *words);

void copenssl_sha256_update(SHA256_CTX *context, const void *bytes, size_t count);

void copenssl_sha256_end(SHA256_CTX *context, unsigned char *digest);

#endif
