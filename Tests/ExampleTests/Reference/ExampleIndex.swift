import JSONPath

/// The page of the shipped examples: what each is for, and where to see a key in use.
struct ExampleIndex {
    /// The whole page.
    ///
    /// - Parameter examples: the documents by name.
    static func page(of examples: [(name: String, document: JSON)]) -> String {
        var text = head + "\n| `pipeline init` | |\n|---|---|\n"
        for (name, document) in examples {
            text += "| `\(name)` | \((document["description"]?.string ?? "").replacing("|", with: "\\|")) |\n"
        }
        text += "\n## Where a key is used\n\n| key | in |\n|---|---|\n"
        for key in keys {
            let users = examples.filter { uses($0.document, key) }.map { "`\($0.name)`" }
            if !users.isEmpty { text += "| `\(key)` | \(users.joined(separator: ", ")) |\n" }
        }
        text += "\n## By protocol of an upload\n\n| protocol | in |\n|---|---|\n"
        for name in protocols {
            let users = examples.filter { has($0.document, "protocol", .string(name)) }.map { "`\($0.name)`" }
            if !users.isEmpty { text += "| `\(name)` | \(users.joined(separator: ", ")) |\n" }
        }
        return text
    }

    private static let head = """
        # Examples

        A document for each of the services that people asked for.

        ## Overview

        `pipeline init NAME` writes one into the folder. The tests run every one of them against exchanges that were
        written after the services' documentation; `pipeline plan` shows what it would send to yours.

        """

    /// Those that are worth a look at how others use them, and that are no usual names of values.
    private static let keys = [
        "forEach", "when", "finally", "paginate", "multipart", "oauth2", "sigv4", "basic", "apiKey", "once", "match",
        "resend", "unpack", "verify", "expires", "renew", "callback", "warn", "fail", "failWhen", "until", "progress",
        "remaining", "limits",
    ]

    private static let protocols = ["put", "multipart", "resumable", "tus", "gcs", "s3", "parts", "auto"]

    private static func uses(_ value: JSON, _ key: String) -> Bool {
        switch value {
        case .object(let members): members.contains { $0.name == key || uses($0.value, key) }
        case .array(let elements): elements.contains { uses($0, key) }
        default: false
        }
    }

    private static func has(_ value: JSON, _ key: String, _ wanted: JSON) -> Bool {
        switch value {
        case .object(let members):
            members.contains { ($0.name == key && $0.value == wanted) || has($0.value, key, wanted) }
        case .array(let elements): elements.contains { has($0, key, wanted) }
        default: false
        }
    }
}
