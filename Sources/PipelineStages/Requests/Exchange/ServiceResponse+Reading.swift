import JSONPath
import PipelineCore

extension ServiceResponse {
    /// The place where a 202 or a 303 leads; nil for nowhere (RFC 9110, section 15.3.3).
    var monitor: String? {
        guard status == 202 || status == 303, let location = header("Location").first else { return nil }
        return URLReference.resolve(location, against: url)
    }

    /// The place where the request belongs by a redirect; nil for none (RFC 9110, section 15.4).
    var redirect: String? {
        guard [301, 302, 303, 307, 308].contains(status), let location = header("Location").first else { return nil }
        return URLReference.resolve(location, against: url)
    }

    /// The text of the first element of an XML answer at the path, as `/Error/Code`; nil for none, and for an answer that
    /// is no XML.
    func xmlText(_ path: String) -> String? { xmlTexts(path).first }

    /// The texts of all elements at the path.
    func xmlTexts(_ path: String) -> [String] {
        guard let selector = try? Selector.parse("xml:\(path)") else { return [] }
        switch selector.lenientValue(in: self) {
        case .string(let text): return [text]
        case .array(let values): return values.compactMap(\.string)
        default: return []
        }
    }
}
