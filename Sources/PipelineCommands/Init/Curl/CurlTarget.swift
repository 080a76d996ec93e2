import PipelineCore

/// The target of a command: its service, the path and query at it, and the headers that are the request's own.
struct CurlTarget {
    let service: String
    /// The word after which secrets of the service are called.
    let label: String
    /// Begins with a slash. Braces stand in it only in expressions, and where the command has `{name}`.
    let path: String
    let query: [(name: String, value: String)]
    let headers: [(name: String, value: String)]
    /// The decorators that its credentials become.
    let credentials: [String]
    /// The header by which the service knows an order that comes again.
    let orderKey: String?
    /// The remarks on what was left out, a sentence each.
    let remarks: [String]
    /// The address, for people.
    let shown: String

    /// The headers that browsers and curl add by themselves.
    private static let needless: Set<String> = [
        "accept-encoding", "accept-language", "cache-control", "connection", "content-length", "dnt", "host", "origin",
        "pragma", "priority", "referer", "te", "transfer-encoding", "upgrade-insecure-requests", "user-agent",
        "if-none-match", "if-modified-since", "expect",
    ]

    /// The headers whose value names one order: the next one must have another.
    private static let orderKeys: Set<String> = [
        "idempotency-key", "x-idempotency-key", "idempotency-token", "x-idempotency-token", "idempotence-key",
        "paypal-request-id",
    ]
    /// The headers whose value names one request, whether the service knows a repetition by it or not.
    private static let requestIDs: Set<String> = ["request-id", "x-request-id", "x-correlation-id"]

    /// Returns whether the header belongs to one request alone, and not to one that is made like it.
    static func namesOneRequest(_ header: String) -> Bool {
        orderKeys.contains(header.lowercased()) || requestIDs.contains(header.lowercased())
    }

    init(_ command: CurlInvocation, _ services: inout CurlServices) throws(CurlMistake) {
        let (origin, rest, user) = try Self.split(command.url)
        let beforeFragment = rest.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).first ?? ""
        let parts = beforeFragment.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let bare = String(parts.first ?? "")
        path = Self.encoded(bare.hasPrefix("/") ? bare : "/\(bare)")
        query = PercentEncoding.formPairs(parts.count > 1 ? parts[1] : "")
        // What a query has may be a secret.
        shown = origin + bare + (query.isEmpty ? "" : "?…")
        label = CurlServices.label(of: origin)
        var headers: [(name: String, value: String)] = []
        var credentials: [String] = []
        var left: [String] = []
        var remarks: [String] = []
        for (name, value) in command.headers {
            let lower = name.lowercased()
            if lower == "authorization" {
                credentials.append(Self.authorization(value, label))
            } else if lower == "content-type" {
                continue
            } else if Self.needless.contains(lower) || lower.hasPrefix("sec-") {
                left.append(name)
            } else if Self.orderKeys.contains(lower) {
                continue
            } else if Self.requestIDs.contains(lower) {
                remarks.append(
                    "left out: \(name), which names one request; if the service knows an order that comes again by it, "
                        + "say \"once\": { \"key\": \"\(name)\" }")
            } else if CurlSecretNames.isSecret(name) {
                let reference = CurlDocument.secret(value, named: CurlSecretNames.variable(name, of: label))
                credentials.append(
                    "{ \"headers\": { \(CurlDocument.quoted(name)): \(CurlDocument.quoted(reference)) } }")
            } else {
                headers.append((name, value))
            }
        }
        let isAuthorized = command.headers.contains { $0.name.lowercased() == "authorization" }
        if let user = command.credentials.user ?? (isAuthorized ? nil : user) {
            if let signature = command.credentials.signature {
                credentials.append(Self.signing(signature, at: origin, by: user, label))
            } else {
                credentials.append(Self.basic(user, label))
            }
        }
        if let token = command.credentials.bearer { credentials.append(Self.authorization("Bearer \(token)", label)) }
        self.headers = headers
        orderKey = command.headers.last { Self.orderKeys.contains($0.name.lowercased()) }?.name
        if !left.isEmpty { remarks.append("left out, as browsers add them: \(left.joined(separator: ", "))") }
        self.remarks = remarks
        self.credentials = credentials
        service = services.name(of: origin, label, with: credentials)
    }

    /// The origin, what follows it, and `USER:PASSWORD` before the host; a variable may stand for the origin.
    private static func split(_ url: String) throws(CurlMistake) -> (origin: String, rest: String, user: String?) {
        if let found = url.prefixMatch(of: /\$\{\{ [a-z]+\.[A-Za-z0-9_]+ \}\}/) {
            return (String(found.output), String(url[found.range.upperBound...]), nil)
        }
        let whole = url.contains("://") ? url : "http://\(url)"
        guard let found = whole.prefixMatch(of: /(https?):\/\/([^\/?#]+)/.ignoresCase()) else {
            throw CurlMistake(
                "'\(url.prefix(80))' is no address of HTTP", hint: "the URL begins with https:// or http://")
        }
        // A name and a password before the host are credentials, not part of the address.
        let mark = found.output.2.lastIndex(of: "@")
        let user = mark.map { PercentEncoding.decoded(found.output.2[..<$0]) }
        let host = mark.map { found.output.2[$0...].dropFirst() } ?? found.output.2
        return ("\(found.output.1.lowercased())://\(host)", String(whole[found.range.upperBound...]), user)
    }

    private static func authorization(_ value: String, _ label: String) -> String {
        // A variable is one word, and has blanks in its form here.
        let words = value.replacing(/\$\{\{ [a-z]+\.[A-Za-z0-9_]+ \}\}/) {
            String(repeating: "x", count: $0.output.count)
        }
        let length = words.prefix { $0 != " " }.count
        let parts = length == words.count ? [value[...]] : [value.prefix(length), value.dropFirst(length + 1)]
        let scheme = parts.first?.lowercased() ?? ""
        let token = parts.count > 1 ? String(parts[1]) : value
        switch scheme {
        case "bearer":
            let reference = CurlDocument.secret(token, named: "\(label)_TOKEN")
            return "{ \"bearer\": \(CurlDocument.quoted(reference)) }"
        default:
            let reference = CurlDocument.secret(token, named: "\(label)_AUTHORIZATION")
            let text = parts.count > 1 ? "\(parts[0]) \(reference)" : reference
            return "{ \"headers\": { \"Authorization\": \(CurlDocument.quoted(text)) } }"
        }
    }

    private static func basic(_ user: String, _ label: String) -> String {
        let sides = user.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let password = sides.count > 1 ? sides[1] : ""
        // `-u KEY:` is how services take a key: then the user is what nobody may see.
        let (name, word) =
            password.isEmpty
            ? (CurlDocument.secret(sides[0], named: "\(label)_KEY"), "")
            : (sides[0], CurlDocument.secret(password, named: "\(label)_PASSWORD"))
        return "{ \"basic\": { \"user\": \(CurlDocument.quoted(name)), \"password\": \(CurlDocument.quoted(word)) } }"
    }

    /// The signature of AWS (curl's manual page, --aws-sigv4); what the command leaves out stands in the host's name.
    private static func signing(_ words: String, at origin: String, by user: String, _ label: String) -> String {
        let words = words.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        let host = origin.split(separator: "/").last?.split(separator: ".").map(String.init) ?? []
        let service = words.count > 3 ? words[3] : host.first ?? ""
        let region = words.count > 2 ? words[2] : host.count > 3 ? host[1] : "us-east-1"
        let sides = user.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let keys = [
            ("accessKey", CurlDocument.secret(sides[0], named: "\(label)_ACCESS_KEY")),
            ("secretKey", CurlDocument.secret(sides.count > 1 ? sides[1] : "", named: "\(label)_SECRET_KEY")),
        ]
        let members = ([("region", region), ("service", service)] + keys).map { name, value in
            "\"\(name)\": \(CurlDocument.quoted(value))"
        }
        return "{ \"sigv4\": { \(members.joined(separator: ", ")) } }"
    }

    /// The path with what no URL may have percent-encoded (RFC 3986, 3.3); `{name}` and expressions stay, but for those
    /// of braces.
    private static func encoded(_ path: String) -> String {
        let plain = path.replacing("${{ '${{' }}", with: "%24%7B%7B").replacing("${{ '{{' }}", with: "%7B%7B")
        var encoded = ""
        var rest = plain[...]
        while let kept = rest.firstMatch(of: /\$\{\{ [a-z]+\.[A-Za-z0-9_]+ \}\}|\{[A-Za-z_][A-Za-z0-9_]*\}/) {
            encoded += escaped(rest[..<kept.range.lowerBound]) + kept.output
            rest = rest[kept.range.upperBound...]
        }
        return encoded + escaped(rest)
    }

    private static func escaped(_ text: Substring) -> String {
        text.unicodeScalars.reduce(into: "") { result, scalar in
            if scalar.isASCII, scalar.value > 32, scalar.value < 127, !"\"<>\\^`{|}".unicodeScalars.contains(scalar) {
                result.unicodeScalars.append(scalar)
            } else {
                result += PercentEncoding.all(String(scalar))
            }
        }
    }

    // MARK: Ids

    /// The segment of the path that looks like an id: a variable, else the last that has a digit or `{name}` in it and
    /// is no version, else the last if it is a word in capitals.
    var idSegment: String? {
        let segments = path.split(separator: "/").map(String.init)
        if let variable = segments.last(where: { $0.contains("${{") }) { return variable }
        if let marked = segments.last(where: {
            $0.contains(where: { $0 == "{" || $0.isNumber }) && $0.wholeMatch(of: /v\d+[a-z0-9.]*/) == nil
        }) {
            return marked
        }
        return segments.last.flatMap { $0.wholeMatch(of: /[A-Z]+(_[A-Z]+)*|[:{<].*/) == nil ? nil : $0 }
    }

    var hasID: Bool { idSegment != nil }

    /// Returns whether the id stands in the path or the query.
    func contains(id: String?) -> Bool {
        guard let id else { return false }
        return path.split(separator: "/").contains(where: { $0 == id })
    }

    func path(replacingID replacement: String, _ id: String? = nil) -> String {
        guard let id = id ?? idSegment else { return path }
        return path.split(separator: "/", omittingEmptySubsequences: false)
            .map { $0 == id ? replacement : String($0) }.joined(separator: "/")
    }
}

/// The services that commands talk to, by origin.
struct CurlServices {
    /// The requests are those of the commands, each as its credentials.
    private var list: [(name: String, origin: String, requests: [[String]])] = []

    /// The name of the service; one more request with these credentials goes there.
    mutating func name(of origin: String, _ label: String, with credentials: [String]) -> String {
        if let index = list.firstIndex(where: { $0.origin == origin }) {
            list[index].requests.append(credentials)
            return list[index].name
        }
        let base = label.lowercased()
        let taken = list.count { $0.name == base || $0.name.hasPrefix("\(base)_") }
        let name = taken == 0 ? base : "\(base)_\(taken + 1)"
        list.append((name, origin, [credentials]))
        return name
    }

    /// The credentials of a request that not all requests to its service have, once all requests are known.
    func own(_ credentials: [String], of service: String) -> [String] {
        let shared = list.first { $0.name == service }.map { Self.shared($0.requests) } ?? []
        return Self.once(credentials).filter { !shared.contains($0) }
    }

    /// The credentials that all requests have.
    private static func shared(_ requests: [[String]]) -> [String] {
        once(requests.first ?? []).filter { credential in requests.allSatisfy { $0.contains(credential) } }
    }

    private static func once(_ credentials: [String]) -> [String] {
        credentials.enumerated().filter { !credentials[..<$0.offset].contains($0.element) }.map(\.element)
    }

    var lines: [String] {
        list.map { service in
            let shared = Self.shared(service.requests)
            let with = shared.isEmpty ? "" : ", \"with\": [ \(shared.joined(separator: ", ")) ]"
            return
                "    \(CurlDocument.quoted(service.name)): { \"url\": \(CurlDocument.quoted(service.origin))\(with) },"
        }
    }

    /// A word for an origin: of `https://api.openai.com` it is `OPENAI`.
    static func label(of origin: String) -> String {
        let host = origin.split(separator: "/").last ?? ""
        let labels = host.split(separator: ":").first.map { $0.split(separator: ".") } ?? []
        let isNumeric = labels.allSatisfy { $0.allSatisfy(\.isNumber) }
        guard !origin.contains("${{"), !isNumeric, !labels.isEmpty, labels.first != "localhost" else { return "API" }
        let main = labels.count > 1 ? labels[labels.count - 2] : labels[0]
        let word = CurlSecretNames.variable(String(main))
        return word.hasPrefix("SECRET_") ? "API" : word
    }
}
