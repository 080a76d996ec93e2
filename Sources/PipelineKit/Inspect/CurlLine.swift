package import PipelineCore

/// An exchange as a command that sends the same request, under a line that says what came of it.
package struct CurlLine {
    package let record: ExchangeRecord

    package init(record: ExchangeRecord) { self.record = record }

    package var text: String {
        var words = ["curl"] + method + [Self.quoted(record.url)]
        for field in record.headers { words += ["-H", Self.quoted("\(field.name): \(field.value)")] }
        var notes: [String] = []
        if let body = record.body, body.size > 0 {
            if let file = body.file {
                words += ["--data-binary", Self.quoted("@\(file)")]
            } else if let text = body.text, body.isWhole {
                words += ["--data-raw", Self.quoted(text)]
            } else {
                notes.append("# its body of \(body.size) bytes is not kept")
            }
        }
        return (["# " + SafeText.line(outcome)] + notes + [words.joined(separator: " ")]).joined(separator: "\n")
    }

    /// What reads is led on by redirects, as here; -X GET is what curl does by itself. With -X HEAD it would wait for the
    /// body that the answer announces and never has.
    private var method: [String] {
        switch record.method {
        case "GET": ["-L"]
        case "HEAD": ["--head", "-L"]
        default: ["-X", record.method]
        }
    }

    private var outcome: String {
        let head = "\(record.started) \(record.step), attempt \(record.attempt)"
        guard let answer = record.answer else { return "\(head): \(record.failure ?? "no answer")" }
        let milliseconds = Int((answer.timings.total * 1000).rounded())
        return "\(head): \(answer.status) after \(milliseconds) ms, \(answer.body.size) bytes"
    }

    /// A word that a POSIX shell takes as it is; one with control characters in the form of bash and zsh.
    package static func quoted(_ text: String) -> String {
        if text.unicodeScalars.contains(where: { $0.value < 32 || $0.value == 127 }) {
            let escaped = text.unicodeScalars.map { scalar -> String in
                switch scalar {
                case "'": "\\'"
                case "\\": "\\\\"
                case "\n": "\\n"
                case _ where scalar.value < 32 || scalar.value == 127:
                    "\\x" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
                default: String(scalar)
                }
            }
            return "$'\(escaped.joined())'"
        }
        // By scalars: with an accent on it a quote is another Character, and ends the word all the same.
        return "'" + text.unicodeScalars.map { $0 == "'" ? "'\\''" : String($0) }.joined() + "'"
    }
}
