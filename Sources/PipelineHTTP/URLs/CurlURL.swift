import CCurl
import Encodings

/// libcurl's own reading of URLs, so that what is checked is what is connected to.
enum CurlURL {
    /// A reference resolved against the URL of the response that held it (RFC 3986 §5), as libcurl reads it, without its
    /// fragment; nil unless it is http or https.
    static func resolve(_ reference: String, against base: String) -> String? {
        guard let resolved = URLReference.resolve(reference, against: base), let handle = curl_url() else { return nil }
        defer { curl_url_cleanup(handle) }
        guard curl_url_set(handle, CURLUPART_URL, resolved, UInt32(CURLU_URLENCODE)) == CURLUE_OK else { return nil }
        curl_url_set(handle, CURLUPART_FRAGMENT, nil, 0)
        var text: UnsafeMutablePointer<CChar>?
        guard ccurl_url_get(handle, CURLUPART_URL, &text, 0) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        let url = String(cString: text)
        return URLParts(url) == nil ? nil : url
    }
}
