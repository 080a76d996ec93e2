import PipelineCore

/// Reads the lines of a secrets file; see ``SecretSources/read(_:)``.
struct SecretLines {
    private let path: String
    // By scalars: CR and LF are one Character, and so are an equals sign and a mark behind it.
    private let lines: [Substring.UnicodeScalarView]
    private var next = 0

    init(path: String, text: String) {
        self.path = path
        // Editors on Windows put a byte order mark before their text.
        let text = text.unicodeScalars.first == "\u{FEFF}" ? text.unicodeScalars.dropFirst() : text[...].unicodeScalars
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.last == "\r" ? line.dropLast() : line
        }
    }

    /// All names and values; the later of two with one name wins.
    mutating func secrets() throws(StepFailure) -> [String: String] {
        var secrets: [String: String] = [:]
        while next < lines.count {
            let line = lines[next]
            next += 1
            if line.allSatisfy(\.properties.isWhitespace) || line.first == "#" { continue }
            guard let equals = line.firstIndex(of: "="), equals > line.startIndex else {
                throw StepFailure(
                    "\(path):\(next): this line has no NAME= before its value", hint: "write it as API_TOKEN=value")
            }
            let value = line[line.index(after: equals)...]
            secrets[String(line[..<equals])] = value.first == "\"" ? try quoted(value.dropFirst()) : String(value)
        }
        return secrets
    }

    /// Returns where a secret is given in the form of a shell or of the environment, or with spaces: its value is not found
    /// under its name then. Nil where it is not.
    func slip(of name: String) -> String? {
        for (index, line) in lines.enumerated() {
            guard let equals = line.firstIndex(of: "=") else { continue }
            let written = String(line[..<equals])
            var words = written.split(whereSeparator: \.isWhitespace)[...]
            if words.count > 1, words.first == "export" { words.removeFirst() }
            guard written != name, words.count == 1, let word = words.first else { continue }
            guard word == name || word == "PIPELINE_SECRET_\(name)" else { continue }
            return "\(path):\(index + 1) has '\(written)=' instead of '\(name)='"
        }
        return nil
    }

    /// A value in quotes, of which the first has been read.
    private mutating func quoted(_ first: Substring.UnicodeScalarView) throws(StepFailure) -> String {
        let start = next
        var line = first
        var value = String.UnicodeScalarView()
        while true {
            var rest = line[...]
            while let scalar = rest.popFirst() {
                switch scalar {
                case "\"":
                    guard rest.allSatisfy(\.properties.isWhitespace) else {
                        throw StepFailure(
                            "\(path):\(next): something follows the quote that ends the value",
                            hint: #"a quote inside a value in quotes is written \""#)
                    }
                    return String(value)
                case "\\":
                    switch rest.first {
                    case "n": value.append("\n")
                    case "\"": value.append("\"")
                    case "\\": value.append("\\")
                    default:
                        value.append(scalar)
                        continue
                    }
                    rest.removeFirst()
                default: value.append(scalar)
                }
            }
            guard next < lines.count else {
                throw StepFailure(
                    "\(path):\(start): the value in quotes that begins here is never closed",
                    hint: "end it with a quote; without quotes a value is one line, taken as it stands")
            }
            value.append("\n")
            line = lines[next]
            next += 1
        }
    }
}
