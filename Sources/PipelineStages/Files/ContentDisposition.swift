import PipelineCore

/// The file name that an answer proposes: `Content-Disposition` (RFC 6266), with `filename*` (RFC 8187) before
/// `filename`. It is read by scalars: a name may begin with a mark, which makes one Character with the quote before it.
enum ContentDisposition {
    private typealias Scalars = Substring.UnicodeScalarView

    /// The name as it stands there; nil when there is none. It is not safe to use as it is, see ``SafeFileName``.
    static func fileName(_ field: String) -> String? {
        var parameters: [String: String] = [:]
        for part in parts(of: field.unicodeScalars).dropFirst() {
            guard let equals = part.firstIndex(of: "=") else { continue }
            let name = String(trimmed(part[..<equals])).lowercased()
            if parameters[name] == nil { parameters[name] = unquoted(trimmed(part[part.index(after: equals)...])) }
        }
        if let name = parameters["filename*"].flatMap(extended), !name.isEmpty { return name }
        return parameters["filename"].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Cuts at each `;` outside of quotes.
    private static func parts(of field: String.UnicodeScalarView) -> [Scalars] {
        var parts: [Scalars] = []
        var start = field.startIndex
        var isQuoted = false
        var isEscaped = false
        for index in field.indices {
            let character = field[index]
            if isEscaped {
                isEscaped = false
            } else if character == "\\" {
                isEscaped = isQuoted
            } else if character == "\"" {
                isQuoted.toggle()
            } else if character == ";", !isQuoted {
                parts.append(field[start..<index])
                start = field.index(after: index)
            }
        }
        return parts + [field[start...]]
    }

    private static func trimmed(_ text: Scalars) -> Scalars {
        var text = text.drop(while: \.properties.isWhitespace)
        while text.last?.properties.isWhitespace == true { text.removeLast() }
        return text
    }

    private static func unquoted(_ text: Scalars) -> String {
        guard text.count >= 2, text.first == "\"", text.last == "\"" else { return String(text) }
        var result = String.UnicodeScalarView()
        var isEscaped = false
        for character in text.dropFirst().dropLast() {
            if character == "\\", !isEscaped {
                isEscaped = true
            } else {
                result.append(character)
                isEscaped = false
            }
        }
        return String(result)
    }

    /// `UTF-8'en'%e2%82%ac.txt`
    private static func extended(_ text: String) -> String? {
        let pieces = text.unicodeScalars.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
            .map(Substring.init)
        guard pieces.count == 3, let bytes = PercentEncoding.bytes(of: pieces[2]) else { return nil }
        switch pieces[0].lowercased() {
        case "utf-8": return String(validating: bytes, as: UTF8.self)
        case "iso-8859-1": return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        default: return nil
        }
    }
}
