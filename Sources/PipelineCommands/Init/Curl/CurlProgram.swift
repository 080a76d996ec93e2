import CLibrary
import JSONPath
import PipelineKit
import PipelineStages

/// Runs curl for `init --try`: what it sends is the person's own command, without a shell.
struct CurlProgram {
    /// The response of a service.
    struct Response {
        let status: Int
        /// The headers that name a place where the job may be asked for, and what they say.
        let places: [(name: String, value: String)]
        /// Nil for what is no JSON.
        let json: JSON?
        /// The start of the text, in one line.
        let excerpt: String
    }

    /// The variables that stand in commands.
    let environment: [String: String]

    /// Sends the command as it was given.
    func run(_ command: CurlScript.Command) throws(CurlMistake) -> Response {
        try run(arguments: command.arguments.map(resolved))
    }

    /// Asks for a URL with the headers and credentials of a command.
    func ask(_ command: CurlInvocation) throws(CurlMistake) -> Response {
        var arguments: [String] = []
        for header in command.headers where header.name.lowercased() != "content-type" {
            arguments += ["-H", "\(header.name): \(header.value)"]
        }
        if let user = command.credentials.user { arguments += ["-u", user] }
        if let bearer = command.credentials.bearer { arguments += ["--oauth2-bearer", bearer] }
        return try run(arguments: (arguments + ["--", command.url]).map(resolved))
    }

    /// The text with the values of its variables, and braces as they stood in the command.
    private func resolved(_ text: String) -> String {
        text.replacing(/\$\{\{ (?:env|secrets)\.([A-Za-z0-9_]+) \}\}/) { environment[String($0.output.1)] ?? "" }
            .replacing("${{ '${{' }}", with: "${{").replacing("${{ '{{' }}", with: "{{")
    }

    private func run(arguments: [String]) throws(CurlMistake) -> Response {
        var template = Array("/tmp/pipeline-try-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw failure("cannot make a folder in /tmp") }
        let folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        let (head, body, errors) = ("\(folder)/head", "\(folder)/body", "\(folder)/errors")
        defer {
            for file in [head, body, errors] { unlink(file) }
            rmdir(folder)
        }
        let own = ["curl", "-sS", "--max-time", "60", "--max-filesize", "16777216", "-o", body, "-D", head]
        let status = try spawn(own + arguments, errors: errors)
        guard status == 0, let response = Self.response(head: head, body: body) else {
            throw failure(FileContent.text(errors)?.split(separator: "\n").last.map(String.init) ?? "no response came")
        }
        return response
    }

    private func spawn(_ words: [String], errors: String) throws(CurlMistake) -> Int32 {
        guard let process = ProgramStart(words, environment: environment, errors: errors).start() else {
            throw CurlMistake("--try runs curl, which is not installed", hint: "install curl, or leave --try out")
        }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status
    }

    /// The last response of the command: those before it are redirects and interim ones.
    private static func response(head: String, body: String) -> Response? {
        let lines = (FileContent.text(head) ?? "").split(whereSeparator: \.isNewline).map(String.init)
        guard let first = lines.lastIndex(where: { $0.hasPrefix("HTTP/") }),
            let status = lines[first].split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { return nil }
        let places = JobPlaceHeaders.names.compactMap { name -> (name: String, value: String)? in
            let line = lines[first...].first { $0.lowercased().hasPrefix(name.lowercased() + ":") }
            return line.map { (name, String($0.dropFirst(name.count + 1).drop { $0 == " " })) }
        }
        let bytes = FileContent.bytes(body) ?? []
        let text = String(decoding: bytes.prefix(200), as: UTF8.self)
        return Response(
            status: status, places: places, json: try? JSON.parse(bytes),
            excerpt: text.split(whereSeparator: \.isWhitespace).joined(separator: " "))
    }

    private func failure(_ message: String) -> CurlMistake {
        CurlMistake("--try: \(message)", hint: "leave --try out to write the document without asking the service")
    }
}
