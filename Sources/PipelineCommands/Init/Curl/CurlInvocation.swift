/// One curl command, taken apart (https://curl.se/docs/manpage.html).
struct CurlInvocation {
    enum Data {
        /// Sent as it stands; `NAME=VALUE` pairs of a form often.
        case text(String)
        /// Still to be percent-encoded.
        case field(name: String, value: String)
        case file(String)
    }

    enum Part {
        case field(name: String, value: String)
        /// A field whose value is what the file has.
        case text(name: String, path: String)
        case file(name: String, path: String, type: String?, fileName: String?)
    }

    struct Credentials {
        /// `USER:PASSWORD`.
        var user: String?
        var bearer: String?
        /// `PROVIDER1[:PROVIDER2[:REGION[:SERVICE]]]` of `--aws-sigv4`: the user is an access key, and its secret signs.
        var signature: String?
    }

    private(set) var url = ""
    private(set) var headers: [(name: String, value: String)] = []
    private(set) var data: [Data] = []
    private(set) var parts: [Part] = []
    /// The file of `-T`.
    private(set) var uploads: String?
    private(set) var credentials = Credentials()
    private(set) var output: String?
    private(set) var isJSON = false
    /// The remarks on what was left out, a sentence each.
    private(set) var remarks: [String] = []
    private var namedMethod: String?
    private var putsDataInQuery = false
    private var isHead = false
    private var urls: [String] = []

    var method: String {
        if let namedMethod { return namedMethod }
        if isHead { return "HEAD" }
        if uploads != nil { return "PUT" }
        return (data.isEmpty || putsDataInQuery) && parts.isEmpty ? "GET" : "POST"
    }

    var isDataInQuery: Bool { putsDataInQuery }

    /// The type of its body as curl sends it; nil for none, and for a form of parts, whose type has a boundary.
    var contentType: String? {
        guard parts.isEmpty else { return nil }
        if let said = headers.last(where: { $0.name.lowercased() == "content-type" }) { return said.value }
        if isJSON { return "application/json" }
        return data.isEmpty || putsDataInQuery ? nil : Self.formType
    }

    /// The type that curl gives to data of which nothing else is said.
    static let formType = "application/x-www-form-urlencoded"

    init(_ command: CurlScript.Command) throws(CurlMistake) {
        remarks = command.remarks
        var words = command.arguments[...]
        while let word = words.popFirst() {
            if word == "--" {
                urls += words
                break
            }
            if word.hasPrefix("--") {
                long(word, &words)
            } else if word.hasPrefix("-"), word != "-" {
                short(word, &words)
            } else {
                urls.append(word)
            }
        }
        guard let first = urls.first else {
            throw CurlMistake("the command names no URL", hint: "copy the whole command: curl [OPTIONS] https://…")
        }
        url = first
        if urls.count > 1 { remarks.append("only the first of \(urls.count) URLs was taken") }
    }

    /// A command that asks for another URL with the same headers and credentials.
    func asking(_ url: String) -> CurlInvocation {
        var command = self
        command.url = url
        command.headers.removeAll {
            $0.name.lowercased() == "content-type" || CurlTarget.namesOneRequest($0.name)
        }
        (command.data, command.parts, command.uploads, command.namedMethod) = ([], [], nil, nil)
        (command.isHead, command.putsDataInQuery, command.output, command.remarks) = (false, false, nil, [])
        return command
    }

    private static let longNames: [Character: String] = [
        "H": "header", "d": "data", "F": "form", "T": "upload-file", "u": "user", "X": "request", "G": "get",
        "o": "output", "O": "remote-name", "L": "location", "A": "user-agent", "e": "referer", "b": "cookie",
        "I": "head", "s": "silent", "S": "show-error", "f": "fail", "v": "verbose", "i": "include", "#": "progress-bar",
        "N": "no-buffer", "g": "globoff", "k": "insecure", "J": "remote-header-name", "m": "max-time", "w": "write-out",
        "c": "cookie-jar", "x": "proxy", "E": "cert", "D": "dump-header", "r": "range", "C": "continue-at",
        "K": "config", "y": "speed-time", "Y": "speed-limit", "z": "time-cond", "4": "ipv4", "6": "ipv6",
        "q": "disable",
        "0": "http1.0", "n": "netrc", "R": "remote-time", "Z": "parallel", "a": "append", "p": "proxytunnel",
    ]
    /// The options that take a value and have their place in a document, or elsewhere in it.
    private static let valued: Set<String> = [
        "header", "data", "data-ascii", "data-raw", "data-binary", "data-urlencode", "json", "form", "form-string",
        "upload-file", "user", "request", "output", "user-agent", "referer", "cookie", "url", "oauth2-bearer",
        "aws-sigv4",
    ]
    private static let valuedElsewhere: Set<String> = [
        "max-time", "write-out", "cookie-jar", "proxy", "cert", "key", "cacert", "capath", "dump-header", "range",
        "continue-at", "config", "speed-time", "speed-limit", "time-cond", "connect-timeout", "retry", "retry-delay",
        "retry-max-time", "max-redirs", "limit-rate", "resolve", "connect-to", "interface", "ciphers",
        "output-dir", "max-filesize", "proto", "tls-max", "noproxy", "proxy-user", "form-escape", "expect100-timeout",
        "keepalive-time", "unix-socket", "stderr", "trace", "trace-ascii", "url-query", "variable", "hostpubmd5",
        "pass",
    ]
    /// The options that a document needs no word for.
    private static let needless: Set<String> = [
        "silent", "show-error", "fail", "fail-with-body", "verbose", "include", "progress-bar", "no-buffer", "globoff",
        "location", "compressed", "http1.0", "http1.1", "http2", "http2-prior-knowledge", "http3", "ipv4", "ipv6",
        "disable", "remote-header-name", "remote-time", "parallel", "no-progress-meter", "retry-all-errors",
        "retry-connrefused", "create-dirs", "path-as-is", "no-keepalive", "tcp-nodelay", "basic", "anyauth",
        "location-trusted", "styled-output", "no-styled-output", "tlsv1.2", "tlsv1.3",
    ]

    private mutating func long(_ word: String, _ words: inout ArraySlice<String>) {
        let sides = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(sides[0])
        // curl takes no `=`; people write it all the same.
        let joined = sides.count > 1 ? String(sides[1]) : nil
        take(name, "--\(name)", &words) { joined ?? $0.popFirst() }
    }

    /// `-sSLo FILE`, `-XPOST`: options without a value may stand together, one with a value ends them.
    private mutating func short(_ word: String, _ words: inout ArraySlice<String>) {
        var letters = word.dropFirst()
        while let letter = letters.popFirst() {
            guard let name = Self.longNames[letter] else {
                remarks.append("the option -\(letter) is not known here and was left out")
                continue
            }
            guard Self.valued.contains(name) || Self.valuedElsewhere.contains(name) else {
                take(name, "-\(letter)", &words) { _ in nil }
                continue
            }
            let rest = String(letters)
            take(name, "-\(letter)", &words) { rest.isEmpty ? $0.popFirst() : rest }
            return
        }
    }

    private mutating func take(
        _ name: String, _ shown: String, _ words: inout ArraySlice<String>,
        value: (inout ArraySlice<String>) -> String?
    ) {
        if Self.valued.contains(name) {
            guard let value = value(&words) else {
                remarks.append("\(shown) has no value and was left out")
                return
            }
            set(name, value)
        } else if Self.valuedElsewhere.contains(name) {
            let value = value(&words) ?? ""
            let isOpen = !["pass", "proxy-user"].contains(name) && !value.contains("@")
            remarks.append("\(shown) \(isOpen ? "\(value.prefix(60)) " : "")was left out: \(Self.place(of: name))")
        } else if name == "get" {
            putsDataInQuery = true
        } else if name == "head" {
            isHead = true
        } else if name == "remote-name" {
            output = ""
        } else if name == "insecure" {
            remarks.append("\(shown) was left out: certificates are checked; \"tls\" of the service names an authority")
        } else if !Self.needless.contains(name) {
            remarks.append("the option \(shown) is not known here and was left out")
            // What follows it is likelier its value than a second URL.
            if let next = words.first, !next.hasPrefix("-"), !next.contains("://"),
                words.contains(where: { $0.contains("://") })
                    || !urls.isEmpty
            {
                words.removeFirst()
            }
        }
    }

    private static func place(of name: String) -> String {
        switch name {
        case "max-time", "connect-timeout", "speed-time", "speed-limit":
            "\"timeout\" of a request says how long it may take"
        case "retry", "retry-delay", "retry-max-time": "\"retry\" is on without it"
        case "cert", "key", "cacert", "capath", "pass": "see \"tls\" of a service"
        case "range", "continue-at": "downloads go on by themselves"
        case "limit-rate": "see \"limits\" of a service"
        case "proxy", "noproxy": "the variables http_proxy and no_proxy hold"
        case "cookie-jar": "cookies are not kept"
        default: "a document has no word for it"
        }
    }

    private mutating func set(_ name: String, _ value: String) {
        switch name {
        case "header": header(value)
        case "data", "data-ascii", "data-binary":
            data.append(value.hasPrefix("@") ? .file(String(value.dropFirst())) : .text(value))
        case "data-raw": data.append(.text(value))
        case "data-urlencode": encoded(value)
        case "json":
            isJSON = true
            data.append(value.hasPrefix("@") ? .file(String(value.dropFirst())) : .text(value))
        case "form": form(value)
        case "form-string":
            let (field, text) = Self.split(value, at: "=")
            parts.append(.field(name: field, value: text))
        case "upload-file": uploads = value
        case "user": credentials.user = value
        case "request": namedMethod = value.uppercased()
        case "output": output = value
        case "user-agent": headers.append(("User-Agent", value))
        case "referer": headers.append(("Referer", value))
        // Without a value it is a file that curl has written (curl(1), --cookie).
        case "cookie" where !value.contains("="):
            remarks.append("the cookies of \(value.prefix(60)) were left out: \(Self.place(of: "cookie-jar"))")
        case "cookie": headers.append(("Cookie", value))
        case "oauth2-bearer": credentials.bearer = value
        case "aws-sigv4": credentials.signature = value
        default: urls.append(value)
        }
    }

    private mutating func header(_ text: String) {
        if text.hasPrefix("@") {
            remarks.append("headers of the file \(text.dropFirst()) were left out")
            return
        }
        var (name, value) = Self.split(text, at: ":")
        if value.isEmpty, text.hasSuffix(";") { name = String(name.dropLast()) }
        name = name.filter { $0 != " " }
        if !name.isEmpty { headers.append((name, String(value.drop { $0 == " " }))) }
    }

    private mutating func encoded(_ text: String) {
        if let at = text.firstIndex(of: "@"), !text[..<at].contains("=") {
            remarks.append("--data-urlencode \(text.prefix(60)) was left out: give what the file has as an input")
            return
        }
        let (name, value) = Self.split(text, at: "=")
        data.append(text.contains("=") ? .field(name: name, value: value) : .field(name: "", value: text))
    }

    /// `NAME=VALUE`, `NAME=@FILE`, `NAME=<FILE`, each with `;type=`, `;filename=` and others behind it.
    private mutating func form(_ text: String) {
        let (name, value) = Self.split(text, at: "=")
        let isFile = value.hasPrefix("@") || value.hasPrefix("<")
        let found = Self.unquoted(isFile ? value.dropFirst() : value[...])
        var rest = found.rest
        var options: [String: String] = [:]
        while let end = rest.firstIndex(of: ";") {
            let (key, equals) = Self.split(String(rest[rest.index(after: end)...].prefix { $0 != ";" }), at: "=")
            options[key.filter { $0 != " " }] = Self.unquoted(equals[...]).text
            rest = rest[rest.index(after: end)...].drop { $0 != ";" }
        }
        if value.hasPrefix("@") {
            let (type, fileName) = (options.removeValue(forKey: "type"), options.removeValue(forKey: "filename"))
            parts.append(.file(name: name, path: found.text, type: type, fileName: fileName))
        } else if isFile {
            parts.append(.text(name: name, path: found.text))
        } else {
            parts.append(.field(name: name, value: found.text))
        }
        for (key, option) in options.sorted(by: { $0.key < $1.key }) {
            remarks.append(
                "left out: ;\(key)=\(option.prefix(60)) of the part '\(name)', which a document has no word for")
        }
    }

    /// The text up to a semicolon, or in double quotes, and what follows it.
    private static func unquoted(_ text: Substring) -> (text: String, rest: Substring) {
        guard text.first == "\"" else {
            let end = text.firstIndex(of: ";") ?? text.endIndex
            return (String(text[..<end]), text[end...])
        }
        var (result, rest) = ("", text.dropFirst())
        while let letter = rest.popFirst(), letter != "\"" {
            let isEscaped = letter == "\\" && (rest.first == "\"" || rest.first == "\\")
            result.append(isEscaped ? rest.removeFirst() : letter)
        }
        return (result, rest)
    }

    private static func split(_ text: String, at mark: Character) -> (String, String) {
        guard let index = text.firstIndex(of: mark) else { return (text, "") }
        return (String(text[..<index]), String(text[text.index(after: index)...]))
    }
}
