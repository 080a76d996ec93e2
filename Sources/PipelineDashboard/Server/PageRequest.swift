import PipelineCore
import PipelineServer

extension IncomingRequest {
    /// True if it changes nothing (RFC 9110, section 9.2.1).
    var isSafe: Bool { method == "GET" || method == "HEAD" }

    /// The names and values of the query, decoded.
    var queryValues: FormValues { FormValues(query) }

    /// Those of a form.
    var form: FormValues { FormValues(Substring(decoding: body, as: UTF8.self)) }

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

    init(_ text: Substring) { pairs = PercentEncoding.formPairs(text, limit: 2000) }

    /// The last value of the name that is not empty.
    subscript(_ name: String) -> String? { pairs.last { $0.name == name && !$0.value.isEmpty }?.value }

    func all(_ name: String) -> [String] { pairs.filter { $0.name == name }.map(\.value) }
}
