import CCurl

/// A `CURL *` with its error text; used on the thread that owns the multi handle only.
final class EasyHandle {
    let pointer: UnsafeMutableRawPointer
    let errorText: UnsafeMutablePointer<CChar>

    init?() {
        guard let pointer = curl_easy_init() else { return nil }
        self.pointer = pointer
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        curl_easy_cleanup(pointer)
        errorText.deallocate()
    }

    /// Back to the state after `init`; connections live in the multi handle and stay.
    func reset() {
        curl_easy_reset(pointer)
        errorText[0] = 0
    }

    func set(_ option: CURLoption, _ value: Int) {
        ccurl_set_long(pointer, option, value)
    }

    func set(_ option: CURLoption, offset value: Int64) {
        ccurl_set_offset(pointer, option, curl_off_t(value))
    }

    /// libcurl copies the text.
    func set(_ option: CURLoption, _ value: String) {
        ccurl_set_string(pointer, option, value)
    }

    func set(_ option: CURLoption, pointer value: UnsafeRawPointer) {
        ccurl_set_pointer(pointer, option, value)
    }

    /// Trusts the authorities of a file and no others: libcurl may have been built with a folder of them next to its file, as
    /// Debian's, and keeps for a day what stood in a file of that name.
    func trust(onlyFile path: String) {
        set(CURLOPT_CAINFO, path)
        ccurl_set_pointer(pointer, CURLOPT_CAPATH, nil)
        set(CURLOPT_CA_CACHE_TIMEOUT, 0)
    }

    func long(_ info: CURLINFO) -> Int {
        var value = 0
        ccurl_get_long(pointer, info, &value)
        return value
    }

    func offset(_ info: CURLINFO) -> Int64 {
        var value: curl_off_t = 0
        ccurl_get_offset(pointer, info, &value)
        return Int64(value)
    }

    /// Returns what libcurl says about the last failure.
    func explanation(of code: CURLcode) -> String {
        errorText[0] == 0 ? String(cString: curl_easy_strerror(code)) : String(cString: errorText)
    }
}
