import PipelineCore

/// A whole request as it came.
package struct DashboardRequest: Sendable {
    package let method: String
    /// The path with the query.
    package let target: String
    /// In the order of their coming.
    package let headers: [(name: String, value: String)]
    package let body: [UInt8]
    /// Asks the kernel whether a process of the user who serves the pages has sent it.
    package let isOfOwnUser: @Sendable () -> Bool

    package init(
        method: String, target: String, headers: [(name: String, value: String)], body: [UInt8] = [],
        isOfOwnUser: @escaping @Sendable () -> Bool = { false }
    ) {
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
        self.isOfOwnUser = isOfOwnUser
    }

    /// The values of a field.
    package func values(_ name: String) -> [String] {
        let wanted = name.lowercased()
        return headers.filter { $0.name.lowercased() == wanted }.map(\.value)
    }

    /// The value of a field that stands once; nil for none, and for several, which nobody honest sends.
    package func value(_ name: String) -> String? {
        let found = values(name)
        return found.count == 1 ? found[0] : nil
    }

    /// True if it changes nothing (RFC 9110, section 9.2.1).
    var isSafe: Bool { method == "GET" || method == "HEAD" }

    var path: String { String(target.prefix { $0 != "?" }) }

    /// The names and values of the query, decoded.
    var query: FormValues { FormValues(String(target.drop { $0 != "?" }.dropFirst())) }

    /// Those of a form.
    var form: FormValues { FormValues(String(decoding: body, as: UTF8.self)) }

    /// True if the address or the form has U+0000, escaped or not.
    var holdsNull: Bool {
        [Array(target.utf8), body].contains { $0.contains(0) || $0.firstRange(of: "%00".utf8) != nil }
    }

    /// The values of a cookie (RFC 6265, section 5.4).
    func cookies(_ name: String) -> [String] {
        values("Cookie").flatMap { $0.split(separator: ";") }.compactMap { part in
            let pair = part.drop { $0 == " " }
            return pair.hasPrefix("\(name)=") ? String(pair.dropFirst(name.count + 1)) : nil
        }
    }
}

/// Names and values in the form of a query (URL Standard, section 5.1).
struct FormValues: Sendable {
    private let pairs: [(name: String, value: String)]

    init(_ text: String) { pairs = PercentEncoding.formPairs(text[...], limit: 2000) }

    /// The last value of the name that is not empty.
    subscript(_ name: String) -> String? { pairs.last { $0.name == name && !$0.value.isEmpty }?.value }

    func all(_ name: String) -> [String] { pairs.filter { $0.name == name }.map(\.value) }
}
