import JSONPath

/// Keys that people bring along from other formats, and what they mean here.
enum KeyAlias {
    /// The field that stands for the key here; of several the first that is among those.
    static func meaning(of key: String, among fields: [String]) -> String? {
        meanings[folded(key)]?.first(where: fields.contains)
    }

    private static func folded(_ key: String) -> String {
        key.lowercased().filter { $0 != "_" && $0 != "-" && $0 != " " }
    }

    private static let meanings: [String: [String]] = {
        var meanings: [String: [String]] = [:]
        for (meant, keys) in words {
            for key in keys.split(separator: " ") { meanings[String(key), default: []] += meant }
        }
        return meanings
    }()

    private static let words: [(meant: [String], keys: String)] = [
        (["stages"], "steps tasks jobs workflow actions"), (["pipeline"], "version apiversion schemaversion"),
        (["inputs", "query"], "parameters params variables vars args arguments"), (["description"], "title summary"),
        (["finally"], "always cleanup onexit teardown after"),
        (["needs"], "dependson after requires dependencies waitfor"),
        (["kind"], "type uses action"), (["id"], "name"), (["when"], "if condition onlyif"),
        (["forEach"], "loop each matrix withitems map"),
        (["concurrency", "parallel"], "parallelism workers maxparallel"),
        (["continueOnFailure"], "continueonerror allowfailure ignoreerrors ignorefailure"),
        (["timeout", "deadline"], "timeout timeoutseconds timelimit maxtime maxduration"),
        (["retry"], "retries retrypolicy"),
        (["attempts"], "maxattempts maxretries tries retries limit"), (["factor"], "backoff multiplier backoffrate"),
        (["delay", "first"], "initialdelay initialinterval"), (["max"], "maxdelay maxinterval maxbackoff"),
        (["every", "delay"], "interval pollinterval frequency"), (["for"], "duration sleep seconds delay"),
        (["url"], "baseurl endpoint host server uri address base"), (["query"], "querystring searchparams"),
        (["headers"], "header"), (["capture"], "outputs extract register results vars variables save export"),
        (["to"], "output outputfile destination dest target out path saveas"),
        (["verify"], "checksum hash digest sha256"),
        (["status"], "state statuspath"), (["succeeded"], "success completed complete done successstates"),
        (["failed"], "failure failures failurestates"), (["running"], "pending inprogress"),
        (["expect"], "expectedstatus statuscodes status validstatus"), (["redirects"], "followredirects maxredirects"),
        (["secret"], "sensitive hidden"), (["enum"], "choices options allowed values"), (["on"], "events when"),
    ]

    // MARK: - Where no key stands for it

    /// Returns what to write instead, when that is more than another key.
    static func advice(for key: String, among fields: [String], in members: [JSONNode.Member]) -> String? {
        if fields.contains("GET") { return requestAdvice(key, fields, members) }
        if fields.contains("request"), belongsToRequest(key) {
            return "it belongs to the request: \"request\": { \"\(key.uppercased() == key ? key : "GET")\": … }"
        }
        if fields.contains("with"), let advice = withAdvice(key) { return advice }
        switch folded(key) {
        case "env", "environment": return "the environment is read with ${{ env.NAME }}, and nothing is declared"
        case "secrets": return "secrets are read with ${{ secrets.NAME }}, and nothing is declared"
        case "required" where fields.contains("enum"): return "an input without a \"default\" is required"
        case "submit" where fields.contains("request"), "poll" where fields.contains("request"):
            return "it is a key of stages of kind \"compute\""
        case "keep" where fields.contains("part"): return "it is a key of \"part\""
        case "received" where fields.contains("ask"), "offset" where fields.contains("ask"):
            return "it is a key of \"ask\""
        case "once" where fields.contains("submit"): return "it is a key of \"submit\""
        case "once" where fields.contains("unpack"):
            return "a download is sent again after a lost response; what may happen only once is a stage of kind "
                + "\"request\" or \"compute\" before it"
        case "once" where fields.contains("request"): return "it is a key of \"request\""
        case "run", "script", "command", "shell":
            return fields.contains("kind") ? "a stage sends requests; a program of your own is a plugin" : nil
        default: return nil
        }
    }

    private static func belongsToRequest(_ key: String) -> Bool {
        let keys = ["url", "uri", "method", "headers", "query", "params", "json", "form", "body", "data", "payload"]
        return methods.contains(key.uppercased()) || keys.contains(folded(key))
    }

    private static func withAdvice(_ key: String) -> String? {
        switch folded(key) {
        case "auth", "authorization", "authentication", "token", "bearer", "basic", "apikey", "oauth2":
            "credentials stand in \"with\": [ { \"bearer\": \"${{ secrets.TOKEN }}\" } ]"
        case "headers": "headers of all requests stand in \"with\": [ { \"headers\": { … } } ]"
        default: nil
        }
    }

    private static func requestAdvice(_ key: String, _ fields: [String], _ members: [JSONNode.Member]) -> String? {
        func text(_ names: [String]) -> String? {
            members.first { names.contains($0.name.lowercased()) }.flatMap { member in
                if case .string(let text) = member.value.content { text } else { nil }
            }
        }
        switch folded(key) {
        case "url", "uri", "path", "href", "endpoint", "method":
            let method = text(["method"])?.uppercased() ?? fields.first(where: methods.contains) ?? "GET"
            return
                "the method is the key: \"\(method)\": \"\(text(["url", "uri", "path", "href", "endpoint"]) ?? "/path")\""
        case "body", "data", "payload", "content":
            return "a body is one of \"json\", \"form\", \"text\" and \"file\""
        case "once":
            return "this request is sent again after a lost response; \"once\" is a key of \"submit\", of stages of "
                + "kind \"upload\", and of the request of those of kind \"request\""
        case "ended" where fields.contains("received"):
            return "an upload has ended when \"offset\" or \"received\" finds the file's size; where it may be gone "
                + "then, \"once\" of the stage says how to find out"
        default: return withAdvice(key)
        }
    }

    private static let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
}

/// Words that people bring along from other formats, and what they mean here.
enum WordAlias {
    /// The one of those that a word stands for elsewhere.
    static func meaning(of word: String, among words: [String]) -> String? {
        let word = word.lowercased()
        return meanings.first { words.contains($0.meant) && $0.words.split(separator: " ").contains { $0 == word } }?
            .meant
    }

    private static let meanings: [(meant: String, words: String)] = [
        ("number", "int integer float double decimal"), ("boolean", "bool flag"), ("string", "str text secret"),
        ("file", "path filename"), ("json", "object array list dict map any"), ("gz", "gzip"), ("tar", "tgz tar.gz"),
        ("request", "http https get post rest api call fetch curl"), ("compute", "poll job submit async operation run"),
        ("wait", "sleep delay pause timer"), ("write", "save output echo"), ("upload", "put send"),
        ("download", "get file"), ("put", "http single simple"), ("multipart", "form multipart/form-data"),
    ]
}
