import CCurl

extension CurlTransport {
    /// The versions of libcurl and of the zlib that it uses, as loaded (curl_version_info(3)).
    package static var libraryVersions: (curl: String, zlib: String?) {
        guard let info = curl_version_info(CURLVERSION_FIRST) else { return ("?", nil) }
        return (String(cString: info.pointee.version), info.pointee.libz_version.map { String(cString: $0) })
    }
}
