import JSONPath

/// The page of the shipped examples: what each is for, and where to see a key in use.
struct ExampleIndex {
    /// The whole page.
    ///
    /// - Parameter examples: the documents by name.
    static func page(of examples: [(name: String, document: JSON)]) -> String {
        var text =
            head
            + "\n| service | what it does | protocol | a lost submit | results are kept | `pipeline init` |\n"
            + "|---|---|---|---|---|---|\n"
        let rows = examples.map { ($0.name, $0.document, Subject($0.document)) }
        for (name, document, subject) in rows.sorted(by: { $0.2.service.lowercased() < $1.2.service.lowercased() }) {
            let expiries = values(of: "expires", in: document).compactMap { $0["in"]?.string }
            text +=
                "| \(subject.service) | \(subject.purpose) | \(ways(of: document)) | \(reconciliation(in: document)) "
            text += "| \(expiries.joined(separator: ", ")) | `\(name)` |\n"
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

    /// The service that an example is for, and what it does there: its description is `SERVICE: what it does.`
    private struct Subject {
        let service: String
        let purpose: String

        init(_ document: JSON) {
            let description = (document["description"]?.string ?? "").replacing("|", with: "\\|")
            guard let colon = description.firstRange(of: ": ") else {
                (service, purpose) = ("the demonstration service", description)
                return
            }
            service = String(description[..<colon.lowerBound])
            purpose = String(description[colon.upperBound...])
        }
    }

    /// Returns how files go up, and how the end of a job is learned.
    private static func ways(of document: JSON) -> String {
        var ways = values(of: "protocol", in: document).compactMap(\.string).map { "upload by `\($0)`" }
        let stages = document["stages"]?.array ?? []
        let polls = stages.compactMap { $0["poll"] }
        if !values(of: "events", in: .array(polls)).isEmpty { ways.append("`events`") }
        if !values(of: "find", in: .array(polls)).isEmpty { ways.append("poll of a list") }
        if polls.contains(where: { $0["events"] == nil && $0["find"] == nil }) { ways.append("poll") }
        if stages.contains(where: { $0["kind"] == "compute" && $0["poll"] == nil && $0["callback"] == nil }) {
            ways.append("202 and `Location`")
        }
        if stages.contains(where: { $0["callback"] != nil }) { ways.append("callback") }
        if !values(of: "paginate", in: document).isEmpty { ways.append("pages") }
        return ways.joined(separator: ", ")
    }

    private static let head = """
        # Examples

        A document for each of the services that people asked for: what it does, how files go up and how the end of a job
        is learned, what becomes of a submit whose answer is lost, and how long the service keeps the results.

        ## Overview

        `pipeline init NAME` writes one into the folder. The tests run every one of them against exchanges that were
        written after the services' documentation; `pipeline plan` shows what it would send to yours.

        """

    /// Those that are worth a look at how others use them, and that are no usual names of values.
    private static let keys = [
        "forEach", "when", "finally", "paginate", "multipart", "oauth2", "assertion", "refreshToken", "jwt", "sigv4",
        "basic", "apiKey", "once", "match",
        "resend", "find", "unpack", "verify", "expires", "renew", "callback", "warn", "fail", "failWhen", "until",
        "progress",
        "remaining", "events", "limits",
    ]

    private static let protocols = ["put", "multipart", "resumable", "tus", "gcs", "s3", "parts", "auto"]

    /// Returns what becomes of a submit whose answer is lost.
    private static func reconciliation(in document: JSON) -> String {
        let ways = values(of: "once", in: document).flatMap { once -> [String] in
            [
                once["key"].map { _ in "is sent again with its key" },
                once["name"].map { _ in "is looked up by its name" },
                once["match"].map { _ in "is looked for in the list" },
                once["resend"].map { _ in "is sent again: a second one costs nothing" },
            ].compactMap(\.self)
        }
        if !ways.isEmpty {
            return ways.enumerated().filter { ways.firstIndex(of: $1) == $0 }.map(\.1).joined(separator: "; ")
        }
        return values(of: "submit", in: document).isEmpty ? "" : "is unknown: `pipeline resolve`"
    }

    /// The values of a key, wherever it stands, each once, in the order of the document.
    private static func values(of key: String, in value: JSON) -> [JSON] {
        var found: [JSON] = []
        switch value {
        case .object(let members):
            for member in members {
                let more = member.name == key ? [member.value] : values(of: key, in: member.value)
                for value in more where !found.contains(value) { found.append(value) }
            }
        case .array(let elements):
            for element in elements {
                for value in values(of: key, in: element) where !found.contains(value) { found.append(value) }
            }
        default: break
        }
        return found
    }

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
