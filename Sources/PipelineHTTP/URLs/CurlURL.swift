import CCurl

/// libcurl's own reading of URLs, so that what is checked is what is connected to.
enum CurlURL {
    /// A reference resolved against the URL of the answer that held it (RFC 3986 §5); nil unless it is http or https.
    static func resolve(_ reference: String, against base: String) -> String? {
        guard let handle = curl_url() else { return nil }
        defer { curl_url_cleanup(handle) }
        guard curl_url_set(handle, CURLUPART_URL, base, 0) == CURLUE_OK else { return nil }
        let encoded = UInt32(CURLU_URLENCODE)
        guard curl_url_set(handle, CURLUPART_URL, reference, encoded) == CURLUE_OK else { return nil }
        curl_url_set(handle, CURLUPART_FRAGMENT, nil, 0)
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(handle, CURLUPART_URL, &text, 0) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        let url = String(cString: text)
        return URLParts(url) == nil ? nil : url
    }
}
