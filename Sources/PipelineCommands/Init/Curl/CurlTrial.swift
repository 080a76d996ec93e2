import JSONPath
import PipelineCore

/// The facts that a service's own responses say of the job that a command submits: the first command is sent, once,
/// then the job is asked for. So the id, the address and the state need not be guessed.
struct CurlTrial {
    /// The capture of the job's id, and its value this time.
    private(set) var id: Found?
    /// The capture that holds the address of the job, where the service gives one.
    private(set) var address: Found?
    /// The command that asks for the job, with this time's id in its URL; nil when none was found.
    private(set) var poll: CurlInvocation?
    /// The state of the job in the response to that, and the word that stood there.
    private(set) var status: Found?
    /// The remarks on what happened, a sentence each.
    private(set) var remarks: [String] = []

    /// A value of a response.
    struct Found {
        /// JSONPath, or a header as `header:Location`.
        let selector: String
        let value: String
        /// The name of the member; of an element of an array that of the array.
        let name: String
    }

    /// - Parameters:
    ///   - texts: the commands, the submit first.
    ///   - program: sends them.
    init(_ texts: [String], by program: CurlProgram) throws(CurlMistake) {
        let script = try CurlScript(texts)
        var commands: [CurlInvocation] = []
        for command in script.commands { commands.append(try CurlInvocation(command)) }
        guard let submit = commands.first, submit.output == nil else {
            throw CurlMistake(
                "--try reads the response of the first command, which writes it to a file",
                hint: "leave -o out of the first command")
        }
        guard !commands.hasUpload else {
            throw CurlMistake(
                "--try sends the first command, which is not the submit here",
                hint: "leave the upload out, and write it into the document afterwards")
        }
        let response = try program.run(script.commands[0])
        remarks.append("tried: \(submit.method) \(Self.bare(submit.url)) answered \(response.status)")
        guard (200...299).contains(response.status) else {
            remarks.append("what follows is guessed, for it said: \(response.excerpt)")
            return
        }
        let values = response.json.map { Self.values(of: $0) } ?? []
        find(values, response.places, commands, by: program)
    }

    private mutating func find(
        _ values: [Found], _ places: [(name: String, value: String)], _ commands: [CurlInvocation],
        by program: CurlProgram
    ) {
        let submit = commands[0]
        let example = commands.count > 1 ? Self.segments(of: commands[1].url) : []
        // A part of the poll's address that has the form of a value here is the id of an earlier job.
        let shaped = values.first { value in example.contains { Self.isAlike($0, value.value) } }
        id = shaped ?? values.first { $0.name.lowercased() == "id" } ?? values.first(where: \.isID)
        var candidates: [(address: Found?, command: CurlInvocation)] = []
        if commands.count > 1, let id, let earlier = example.last(where: { Self.isAlike($0, id.value) }) {
            candidates.append((nil, commands[1].asking(Self.url(commands[1].url, earlier, with: id.value))))
        } else if commands.count == 1 {
            let headers = places.map { Found(selector: "header:\($0.name)", value: $0.value, name: $0.name) }
            let links = headers + values.filter(\.isAddress)
            for link in links.prefix(3) {
                guard let url = Self.absolute(link.value, from: submit.url) else { continue }
                candidates.append((link, submit.asking(url)))
            }
            if let id {
                let base = Self.bare(submit.url)
                candidates.append((nil, submit.asking("\(base.hasSuffix("/") ? base : base + "/")\(id.value)")))
            }
        }
        for candidate in candidates {
            guard let response = try? program.ask(candidate.command) else { continue }
            remarks.append("tried: GET \(Self.bare(candidate.command.url)) answered \(response.status)")
            guard (200...299).contains(response.status), let json = response.json else { continue }
            (poll, address) = (candidate.command, candidate.address)
            let found = Self.values(of: json)
            let states = found.filter(\.isState)
            status = states.first { $0.name.lowercased().hasPrefix("stat") } ?? states.first
            return
        }
    }

    // MARK: Values

    /// The texts and numbers of the first levels of a value, those further out first.
    private static func values(of json: JSON, path: String = "$", name: String = "", depth: Int = 0) -> [Found] {
        switch json {
        case .string(let text) where !text.isEmpty && text.utf8.count <= 2000:
            return [Found(selector: path, value: text, name: name)]
        case .number(let number): return [Found(selector: path, value: number.literal, name: name)]
        case .object(let members) where depth < 4:
            let parts = members.map { member -> [Found] in
                let isPlain = member.name.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_]*/) != nil
                let quoted = member.name.replacing("\\", with: "\\\\").replacing("'", with: "\\'")
                return values(
                    of: member.value, path: isPlain ? "\(path).\(member.name)" : "\(path)['\(quoted)']",
                    name: member.name, depth: depth + 1)
            }
            return parts.flatMap(\.self).enumerated()
                .sorted { ($0.element.depth, $0.offset) < ($1.element.depth, $1.offset) }.map(\.element)
        case .array(let elements) where depth < 4 && elements.count == 1:
            return values(of: elements[0], path: "\(path)[0]", name: name, depth: depth + 1)
        case .null, .bool, .string, .object, .array: return []
        }
    }

    /// Returns whether two texts look like ids of one kind: numbers, the same word before a `_` or `-`, or the same
    /// length and the same marks.
    private static func isAlike(_ one: String, _ other: String) -> Bool {
        if one.allSatisfy(\.isNumber) { return !one.isEmpty && other.allSatisfy(\.isNumber) }
        func marks(_ text: String) -> [Int] {
            text.enumerated().filter { $0.element == "-" || $0.element == "_" }.map(\.offset)
        }
        if let first = marks(one).first, first > 1, one.prefix(first + 1) == other.prefix(first + 1) { return true }
        return one.count == other.count && one.count >= 8 && one.contains(where: \.isNumber)
            && other.contains(where: \.isNumber) && marks(one) == marks(other)
    }

    // MARK: Addresses

    private static func bare(_ url: String) -> String { String(url.prefix { $0 != "?" && $0 != "#" }) }

    private static func segments(of url: String) -> [String] {
        bare(url).split(separator: "/").dropFirst(2).map(String.init)
    }

    private static func url(_ url: String, _ segment: String, with id: String) -> String {
        url.split(separator: "/", omittingEmptySubsequences: false)
            .map { part in
                part == segment ? id : part.hasPrefix("\(segment)?") ? id + part.dropFirst(segment.count) : String(part)
            }.joined(separator: "/")
    }

    private static func absolute(_ text: String, from url: String) -> String? {
        if text.hasPrefix("http://") || text.hasPrefix("https://") { return text }
        guard text.hasPrefix("/"), let found = url.prefixMatch(of: /https?:\/\/[^\/?#]+/) else { return nil }
        return "\(found.output)\(text)"
    }
}

extension CurlTrial.Found {
    fileprivate var depth: Int { selector.count { $0 == "." || $0 == "[" } }

    fileprivate var isID: Bool {
        let name = name.lowercased()
        return (name.hasSuffix("id") || name == "uuid" || name == "name" || name == "key" || name == "handle")
            && value.utf8.count <= 200 && !value.contains("://") && !value.contains(" ")
    }

    /// True if it is likely where the job is asked for; where it is cancelled, or what it makes, is none.
    fileprivate var isAddress: Bool {
        let name = selector.lowercased()
        guard value.hasPrefix("http") || value.hasPrefix("/") else { return false }
        if ["cancel", "stream", "delete", "upload", "web", "docs"].contains(where: name.contains) { return false }
        return ["status", "self", "get", "poll", "href", "url", "operation", "location"].contains(where: name.contains)
    }

    fileprivate var isState: Bool {
        let name = name.lowercased()
        return ["status", "state", "phase", "stage", "jobstatus", "job_status"].contains(name) && value.utf8.count <= 60
    }
}
