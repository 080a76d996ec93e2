import JSONPath
import PipelineCore

/// The document that one to four curl commands become: one a request, two or three a job that is submitted, polled and
/// downloaded, after an upload that the job is about. What is guessed is marked by a comment.
struct CurlDocument {
    private let commands: [CurlInvocation]
    private let name: String
    private var services = CurlServices()
    var inputs = CurlInputs()
    var remarks: [String] = []
    private let trial: CurlTrial?

    /// - Parameters:
    ///   - commands: texts of commands, in the order: upload, submit, poll, download.
    ///   - name: of the pipeline.
    ///   - trial: what sending the first one has shown; nil where all is guessed.
    init(_ texts: [String], name: String, trial: CurlTrial? = nil) throws(CurlMistake) {
        let script = try CurlScript(texts)
        var commands: [CurlInvocation] = []
        for command in script.commands { commands.append(try CurlInvocation(command)) }
        if commands.count == 1, let poll = trial?.poll { commands.append(poll) }
        self.commands = commands
        self.name = name
        self.trial = trial
        remarks = script.remarks + (trial?.remarks ?? [])
    }

    /// The document, with comments.
    func text() throws(CurlMistake) -> String {
        var draft = self
        return try draft.make()
    }

    private mutating func make() throws(CurlMistake) -> String {
        var targets: [CurlTarget] = []
        for command in commands { targets.append(try CurlTarget(command, &services)) }
        var stages: [String] = []
        if commands.count > 1, commands[1].uploads != nil, commands[0].uploads == nil {
            stages = linkStages(commands, targets)
        } else if commands.hasUpload {
            stages.append(upload(commands[0], targets[0]))
            stages += after(stages: "upload", jobStages(commands[1...], Array(targets[1...])))
        } else {
            stages = jobStages(commands[...], targets)
        }
        let serviceLines = services.lines.map { filled($0) }
        let left = commands.flatMap(\.remarks) + targets.flatMap(\.remarks) + inputs.remarks + remarks
        var lines = [
            "// Made from curl. What follows 'guess' is to be checked: 'pipeline plan FILE' shows what is sent."
        ]
        lines += left.map { "// \(Self.comment($0))" }
        lines += ["{", "  \"pipeline\": 1,", "  \"name\": \(Self.quoted(name)),"]
        if !inputs.list.isEmpty {
            lines +=
                ["  \"inputs\": {"] + inputs.list.map { "    \(Self.quoted($0.name)): \($0.definition)," } + ["  },"]
        }
        lines += ["  \"services\": {"] + serviceLines + ["  },", "  \"stages\": ["]
        lines += [stages.joined(separator: ",\n"), "  ]", "}", ""]
        return lines.joined(separator: "\n")
    }

    // MARK: Stages

    /// The stages of the commands that submit a job, poll it and download what it made; or of one request.
    mutating func jobStages(_ slice: ArraySlice<CurlInvocation>, _ targets: [CurlTarget]) -> [String] {
        let commands = Array(slice)
        if commands.count == 1 { return [single(commands[0], targets[0])] }
        if commands.count == 2, commands[1].output != nil {
            let ask = request(commands[0], targets[0], capture: true)
            return [ask, download(commands[1], targets[1], after: "ask", idOf: nil)]
        }
        let id = targets[1].idSegment
        let job = compute(commands, targets)
        return commands.count == 3 ? [job, download(commands[2], targets[2], after: "job", idOf: id)] : [job]
    }

    /// The stage of the first command, whose file the job is about.
    private mutating func upload(_ command: CurlInvocation, _ target: CurlTarget) -> String {
        if command.uploads != nil { return single(command, target) }
        return stage(
            "upload", "request", target,
            [
                "\"request\": { \(members(of: command, target)) }",
                "// guess: where the response has what the next request names",
                "\"capture\": { \"url\": \"$.url\" }",
            ])
    }

    /// The stages after the one that uploads: the first waits for it, and what its only variable stands for is likely what
    /// the upload's response gave.
    private mutating func after(stages upload: String, _ stages: [String]) -> [String] {
        guard var first = stages.first.map({ needing(upload, $0) }) else { return [] }
        let variables = Set(first.matches(of: /\$\{\{ env\.([A-Za-z0-9_]+) \}\}/).map { String($0.output.1) })
        if variables.count == 1, let name = variables.first, commands[0].uploads == nil {
            first = first.replacing("${{ env.\(name) }}", with: "${{ stages.\(upload).url }}")
            remarks.append("guess: $\(name) is what the response to the upload gives, ${{ stages.\(upload).url }}")
        } else {
            remarks.append("guess: the job is about the file of stage '\(upload)'; write where the submit names it")
        }
        return [first] + stages.dropFirst()
    }

    /// A stage that waits for another.
    func needing(_ other: String, _ stage: String) -> String {
        guard let kind = stage.firstMatch(of: /"kind": "[a-z]+",/) else { return stage }
        var stage = stage
        stage.insert(contentsOf: " \"needs\": [\"\(other)\"],", at: kind.range.upperBound)
        return stage
    }

    private mutating func single(_ command: CurlInvocation, _ target: CurlTarget) -> String {
        if let path = command.uploads {
            let file = inputs.file(path)
            return stage(
                "upload", "upload", target,
                [
                    "\"file\": \"\(file)\", \"protocol\": \"put\"",
                    "\"request\": { \(members(of: command, target, hasBody: false)) }",
                ])
        }
        if command.method == "GET", command.output != nil { return download(command, target, after: nil, idOf: nil) }
        return request(command, target, capture: false)
    }

    private mutating func request(_ command: CurlInvocation, _ target: CurlTarget, capture: Bool) -> String {
        var lines = ["\"request\": { \(members(of: command, target, isOrder: true)) }"]
        if capture {
            lines.append("// guess: where the response has the link to what is downloaded")
            lines.append("\"capture\": { \"url\": \"$.url\" }")
        }
        if !capture, let output = command.output {
            lines.append("\"to\": \(Self.quoted(Self.fileName(output, target)))")
        } else if !capture, command.method != "HEAD" {
            lines.append("// guess: the file for the response, which curl prints")
            lines.append("\"to\": \"response.json\"")
        }
        return stage("ask", "request", target, lines)
    }

    private mutating func compute(_ commands: [CurlInvocation], _ targets: [CurlTarget]) -> String {
        let (submit, poll) = (targets[0], targets[1])
        let id = trial?.id.flatMap { poll.contains(id: $0.value) ? $0.value : nil }
        var path = poll.path(replacingID: "${{ self.id }}", id)
        var lines = ["\"submit\": {", "  \(members(of: commands[0], submit, isOrder: true)),"]
        if let address = trial?.address {
            path = "${{ self.address }}"
            lines.append("  \"capture\": { \"address\": \(Self.quoted(address.selector)) }")
        } else {
            if trial?.id == nil { lines.append("  // guess: where the response has the job's id") }
            lines.append("  \"capture\": { \"id\": \(Self.quoted(trial?.id?.selector ?? "$.id")) }")
        }
        lines.append("}")
        lines[lines.count - 1] += ","
        let status = self.poll(
            commands[1], poll, path: path, isFound: trial?.address != nil,
            givesLink: targets.count == 3 && !targets[2].contains(id: poll.idSegment))
        return stage("job", "compute", submit, lines + status)
    }

    /// The lines of the poll.
    ///
    /// - Parameters:
    ///   - isFound: whether its path is known to be the job's.
    ///   - givesLink: whether its response is to give the link to the result.
    mutating func poll(
        _ command: CurlInvocation, _ target: CurlTarget, path: String, isFound: Bool, givesLink: Bool
    ) -> [String] {
        var status = [
            "\"poll\": {", "  \(members(of: command, target, path: path)),",
            trial?.status.map { "  // it said \(Self.quoted(Self.comment($0.value))); guess: the words for its ends" }
                ?? "  // guess: where the state stands, and the words for its ends",
            "  \"status\": \(Self.quoted(trial?.status?.selector ?? "$.status")),",
            "  \"succeeded\": [\"succeeded\", \"success\", \"completed\", \"complete\", \"done\", \"finished\", \"ready\"],",
            "  \"failed\": [\"failed\", \"failure\", \"error\", \"cancelled\", \"canceled\", \"expired\"]",
        ]
        if !target.hasID, !isFound {
            status.insert(
                "  // guess: no part of the address looks like an id; write ${{ self.id }} where it stands", at: 1)
        }
        if command.isOrder || !["GET", "POST"].contains(command.method) {
            let doubt = command.isOrder ? "may order at each poll" : "does not ask for a state"
            status.insert("  // guess: \(command.method) \(doubt); is this the poll?", at: 1)
        }
        if givesLink {
            status[status.count - 1] += ","
            status.append("  // guess: where the response has the link to the result")
            status.append("  \"capture\": { \"url\": \"$.url\" }")
        }
        return status + ["}"]
    }

    /// - Parameters:
    ///   - other: the stage whose captures it may use.
    ///   - id: the part of the poll's address that is the job's id.
    mutating func download(
        _ command: CurlInvocation, _ target: CurlTarget, after other: String?, idOf id: String?
    ) -> String {
        var lines: [String] = []
        var path = target.path
        if let other {
            if let id, target.contains(id: id) {
                path = target.path(replacingID: "${{ stages.\(other).id }}", id)
            } else {
                lines.append("// guess: the link that '\(other)' captured; it was \(Self.comment(target.shown))")
                path = "${{ stages.\(other).url }}"
            }
        }
        lines.append("\"request\": { \(members(of: command, target, path: path)) }")
        lines.append("\"to\": \(Self.quoted(Self.fileName(command.output ?? "", target)))")
        return stage("download", "download", target, lines)
    }

    func stage(_ id: String, _ kind: String, _ target: CurlTarget, _ lines: [String]) -> String {
        var all = ["{ \"id\": \"\(id)\", \"kind\": \"\(kind)\", \"service\": \(Self.quoted(target.service)),"]
        // A comma ends each member but the last; comments and opened objects have none.
        let last = lines.lastIndex { !$0.hasPrefix("//") }
        for (index, line) in lines.enumerated() {
            let isMember = line.hasPrefix("\"") && !line.hasSuffix("{") && !line.hasSuffix(",")
            all.append("  " + line + (isMember && index != last ? "," : ""))
        }
        return all.map { "    \($0)" }.joined(separator: "\n") + " }"
    }

    // MARK: Requests

    /// The members of a request, in one line.
    ///
    /// - Parameter isOrder: true for one that may say how the service knows it when it comes again.
    mutating func members(
        of command: CurlInvocation, _ target: CurlTarget, path: String? = nil, hasBody: Bool = true,
        isOrder: Bool = false
    ) -> String {
        let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
        var method = command.method
        if !methods.contains(method) {
            remarks.append("the method \(method) is not known here: guess POST")
            method = "POST"
        }
        var members = ["\"\(method)\": \(Self.quoted(filled(path ?? target.path)))"]
        // A link that an answer gives brings its own.
        var query =
            path?.hasPrefix("${{") == true
            ? []
            : target.query.map { name, value in
                (name: name, value: CurlSecretNames.isSecret(name) ? value : filled(value))
            }
        if command.isDataInQuery {
            for data in command.data { query += Self.fields(data) ?? [] }
        }
        if !query.isEmpty { members.append("\"query\": \(Self.object(query, secretsFor: target.label))") }
        let body = hasBody && !command.isDataInQuery ? body(of: command, target) : CurlBody()
        if let member = body.member { members.append(member) }
        var headers = target.headers
        if let type = command.contentType, type != body.type { headers.append(("Content-Type", type)) }
        if !headers.isEmpty { members.append("\"headers\": \(Self.object(headers, secretsFor: target.label))") }
        let with = services.own(target.credentials, of: target.service) + [body.decorator].compactMap(\.self)
        if !with.isEmpty { members.append("\"with\": [ \(with.joined(separator: ", ")) ]") }
        if let key = target.orderKey {
            if isOrder, ["POST", "PATCH"].contains(method) {
                members.append("\"once\": { \"key\": \(Self.quoted(key)) }")
            } else {
                remarks.append("left out: \(key), which names one order, and this request makes none")
            }
        } else if isOrder, body.member?.contains("${{ self.key }}") == true {
            members.append("\"once\": { \"key\": true }")
        }
        return members.joined(separator: ", ")
    }

    /// The text of a URL with an input in place of each `{name}`, as API pages write what differs from call to call.
    private mutating func filled(_ text: String) -> String {
        text.replacing(/\{([A-Za-z_][A-Za-z0-9_]*)\}/) { inputs.value(of: String($0.output.1)) }
    }

    // MARK: Text

    static func quoted(_ text: String) -> String { JSON.string(text).text }

    /// Names and values as an object; of a name that stands twice the values as an array.
    static func object(_ fields: [(name: String, value: String)], secretsFor label: String) -> String {
        var names: [String] = []
        var values: [String: [String]] = [:]
        for (name, value) in fields {
            if values[name] == nil { names.append(name) }
            let isSecret = CurlSecretNames.isSecret(name) && !value.isEmpty
            values[name, default: []].append(
                isSecret ? secret(value, named: CurlSecretNames.variable(name, of: label)) : value)
        }
        let members = names.map { name in
            let all = (values[name] ?? []).map(quoted)
            return "\(quoted(name)): " + (all.count == 1 ? all[0] : "[\(all.joined(separator: ", "))]")
        }
        return "{ \(members.joined(separator: ", ")) }"
    }

    /// A reference to a secret in place of its value; a variable that stood there gives its name.
    static func secret(_ value: String, named name: String) -> String {
        if let found = value.firstMatch(of: /\$\{\{ (env|secrets)\.([A-Za-z0-9_]+) \}\}/) {
            return "${{ secrets.\(found.output.2) }}"
        }
        return "${{ secrets.\(CurlSecretNames.variable(name)) }}"
    }

    /// The text as it may stand in a comment: in one line, not long.
    private static func comment(_ text: String) -> String {
        let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
        return line.count > 160 ? "\(line.prefix(160))…" : line
    }

    private static func fileName(_ output: String, _ target: CurlTarget) -> String {
        if !output.isEmpty, output != "-" { return output }
        let last = target.path.split(separator: "/").last.map(String.init) ?? ""
        return last.isEmpty || last.contains("{") ? "result.out" : last
    }
}

extension [CurlInvocation] {
    /// True if the first one is sent before the submit: it sends a file that the job is about, or something else that the
    /// second one's order needs.
    var hasUpload: Bool {
        switch count {
        case 2: self[0].sendsFile && self[1].isOrder
        case 3: self[1].isOrder && !self[2].isOrder && self[2].output == nil
        default: count == 4
        }
    }
}

extension CurlInvocation {
    fileprivate var sendsFile: Bool {
        let isData = data.contains { if case .file = $0 { true } else { false } }
        return isData || uploads != nil || parts.contains { if case .file = $0 { true } else { false } }
    }

    /// True if it may begin something at the service each time that it is sent.
    var isOrder: Bool {
        ["POST", "PUT", "PATCH"].contains(method) && (!data.isEmpty && !isDataInQuery || !parts.isEmpty)
    }
}

/// The inputs that files of commands become, and what stands in braces in their URLs.
struct CurlInputs {
    private(set) var list: [(name: String, definition: String)] = []
    /// The remarks on those that are guesses, a sentence each.
    private(set) var remarks: [String] = []
    private var known: [String: String] = [:]

    /// Fields of forms whose names say nothing of what is sent.
    private static let vague: Set<String> = ["file", "files", "data", "upload", "body", "attachment"]

    /// A reference to the input that stands for the file; it is called as the field that sends it, or else as the file.
    mutating func file(_ path: String, field: String? = nil) -> String { "${{ inputs.\(name(path, field)) }}" }

    /// A reference to what the file has.
    mutating func text(_ path: String, field: String? = nil) -> String { "${{ text(inputs.\(name(path, field))) }}" }

    /// A reference to the input that stands for `{name}` in a URL.
    mutating func value(of name: String) -> String {
        let written = "{\(name)}"
        if let known = known[written] { return "${{ inputs.\(known) }}" }
        let input = declare(name, "string", for: written)
        remarks.append("guess: \(written) in a URL stands for a value, which is the input '\(input)'")
        return "${{ inputs.\(input) }}"
    }

    private mutating func name(_ path: String, _ field: String?) -> String {
        if let name = known[path] { return name }
        let last = path.split(separator: "/").last.map(String.init) ?? ""
        let named = field.flatMap { Self.vague.contains($0.lowercased()) ? nil : $0 }
        let stem = named ?? last.split(separator: ".").first.map(String.init) ?? ""
        var name = String(stem.lowercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" }.prefix(30))
        if name.first?.isLetter != true || named == nil && path.contains("${{") { name = "file" }
        return declare(name, "file", for: path)
    }

    /// Adds an input for what a command has; of a name that is taken it gets a number.
    private mutating func declare(_ base: String, _ type: String, for written: String) -> String {
        var name = base
        var count = 2
        while list.contains(where: { $0.name == name }) {
            name = "\(base)\(count)"
            count += 1
        }
        known[written] = name
        let description = CurlDocument.quoted("in curl: \(written)")
        list.append((name, "{ \"type\": \"\(type)\", \"description\": \(description) }"))
        return name
    }
}
