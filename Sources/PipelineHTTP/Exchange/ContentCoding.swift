package import HTTPTypes

/// The coding of a response's content (RFC 9110, section 8.4).
package enum ContentCoding: Sendable, Equatable {
    /// Not at all.
    case none
    /// In one that ``ContentDecoder`` undoes while it is received.
    case decodable(String)
    /// In one that is known, and that is not undone in what goes to a file.
    case foreign(String)
    /// In something that is no content coding: servers write character sets and transfer codings there.
    case unknown(String)

    package init(_ headers: HTTPFields) {
        let text = headers[.contentEncoding]?.lowercased() ?? ""
        self.init(text)
    }

    /// - Parameter text: the field's value in lower case.
    package init(_ text: String) {
        let names = text.split(separator: ",").map { name in
            String(name.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" })
        }.filter { !$0.isEmpty && $0 != "identity" }
        if names.isEmpty {
            self = .none
        } else if names.count == 1, ContentDecoder.codings.contains(names[0]) {
            self = .decodable(names[0])
        } else if names.allSatisfy({ Self.registered.contains($0) }) {
            self = .foreign(text)
        } else {
            self = .unknown(text)
        }
    }

    /// https://www.iana.org/assignments/http-parameters: the content codings that are in use.
    private static let registered: Set<String> = [
        "gzip", "x-gzip", "deflate", "compress", "x-compress", "br", "zstd", "dcb", "dcz",
    ]

    /// True for one that is undone while it is received.
    package var isDecodable: Bool { if case .decodable = self { true } else { false } }
}
