import Foundation
import JSONPath
import PipelineCore
import PipelineStages
import Testing

/// "Where a duration, size, number or boolean is expected a template may stand; its value is checked as soon as it is
/// known": of every key of the format, found in the schema that is made from the same tables as the reader.
@Suite("Templates where durations, sizes, numbers and booleans stand")
struct TemplateFieldTests {
    /// Keys where none can stand, and why.
    private static let exceptions: [String: String] = [
        "pipeline": "the version decides how the document is read",
        "services[].trace": "whether a service is told of is fixed before any value is known",
        "inputs[].secret": "it decides where the values are kept that expressions read",
        "inputs[].default": "a default of another type is a string with the expression",
        "inputs[].enum[]": "the values allowed are constants",
        "decorator.cache.staleIfOffline": "the mark true; a duration may be a template",
        "once.key": "the mark true, or the name of a header",
        "decorator.multipart.files[].part": "a mark for the part's bytes, not a switch",
        "request.part": "a mark for the part's bytes, not a switch",
    ]
    private static let catalogue: Catalogue = {
        let kinds = StandardStages.kinds(network: ScriptedService().network, decorators: .standard)
        return Catalogue(kinds: kinds, decoratorSchema: DecoratorCatalogue.standard.entrySchema) {
            DecoratorCatalogue.standard.check($0, findings: $1)
        }
    }()
    private static let places = SchemaPlaces(PipelineSchema(catalogue: catalogue).json)

    @Test("the schema lets a template stand in each of them")
    func schema() {
        let refused = Self.places.typed.filter { !$0.value && Self.exceptions[$0.key] == nil }.keys.sorted()
        #expect(refused == [])
        #expect(Self.places.typed.count > 60)
    }

    @Test("each of them has an example here, or a reason why not")
    func whole() {
        let known = Set(Self.examples.map(\.key)).union(Self.exceptions.keys)
        #expect(Self.places.typed.keys.filter { !known.contains($0) }.sorted() == [])
    }

    @Test("the reader takes a template in each, and what it gives is checked when the job starts", arguments: examples)
    func reader(example: Example) async throws {
        let plan = try plan(example.document("${{ inputs.v }}"))
        guard !example.takesAnything else { return }
        var start = JobStart(
            known: Scope(inputs: ["v": "?"]), folders: JobFolders(document: "/", output: "/"), overwrites: false)
        let failure = try #require(await plan.preflight(at: start), "\(example.key)")
        #expect(failure.title.hasPrefix("${{ inputs.v }} gives \"?\", and "), "\(example.key): \(failure.title)")
        #expect(failure.place?.hasPrefix("a.json:") == true)
        start = JobStart(
            known: Scope(inputs: ["v": example.right]), folders: JobFolders(document: "/", output: "/"),
            overwrites: false)
        #expect(plan.mistake(at: start)?.title == nil, "\(example.key)")
    }

    @Test("what may not run is not checked before it does; 'finally' is, and so is what a known condition lets run")
    func conditions() async throws {
        let start = JobStart(
            known: Scope(inputs: ["v": "?"]), folders: JobFolders(document: "/", output: "/"), overwrites: false)
        let wait = #""kind": "wait", "for": "${{ inputs.v }}""#
        func preflight(_ stages: String) async throws -> String? {
            let text = #"{ "pipeline": 1, "name": "a", "inputs": { "v": { "type": "json" } }, \#(stages) }"#
            return try await plan(text).preflight(at: start)?.title
        }
        let sure = #""stages": [{ "id": "s", "kind": "wait", "for": "1s" }]"#
        #expect(try await preflight(#""stages": [{ "id": "s", "when": "inputs.v == 1", \#(wait) }]"#) == nil)
        #expect(try await preflight(#""stages": [{ "id": "s", "when": "inputs.v == '?'", \#(wait) }]"#) != nil)
        #expect(try await preflight(#""stages": [{ "id": "s", \#(wait) }]"#) != nil)
        #expect(try await preflight(#"\#(sure), "finally": [{ "id": "f", \#(wait) }]"#) != nil)
        #expect(try await preflight(#"\#(sure), "finally": [{ "id": "f", "when": "inputs.v == 1", \#(wait) }]"#) == nil)
    }

    @Test("a value that needs no job is checked with the document", arguments: examples.filter { !$0.takesAnything })
    func constants(example: Example) throws {
        #expect(throws: DefinitionError.self, "\(example.key)") { try plan(example.document("${{ '?' }}")) }
    }

    private func plan(_ text: String) throws -> Plan {
        try Planner(catalogue: Self.catalogue).plan(SourceText(name: "a.json", text: text))
    }

    // MARK: - Examples

    struct Example: Sendable, CustomTestStringConvertible {
        let key: String
        /// What stands in the document, the template's place being `@`.
        let text: String
        let right: JSON
        let takesAnything: Bool
        var testDescription: String { key }

        func document(_ template: String) -> String {
            let part = text.replacingOccurrences(of: "@", with: "\"\(template)\"")
            let stages = part.contains("\"stages\"") ? "" : #", "stages": [{ "id": "w", "kind": "wait", "for": "1s" }]"#
            return #"{ "pipeline": 1, "name": "a", "inputs": { "v": { "type": "json" } }, \#(part)\#(stages) }"#
        }
    }

    private static func top(_ key: String, _ text: String, _ right: JSON) -> Example {
        Example(key: key, text: text, right: right, takesAnything: false)
    }

    private static func stage(_ key: String, _ text: String, _ right: JSON, any: Bool = false) -> Example {
        Example(key: key, text: #""stages": [{ "id": "s", \#(text) }]"#, right: right, takesAnything: any)
    }

    private static func wait(_ key: String, _ text: String, _ right: JSON) -> Example {
        stage(key, #""kind": "wait", "until": "2030-01-01T00:00:00Z", \#(text)"#, right)
    }

    private static func request(_ key: String, _ text: String, _ right: JSON, any: Bool = false) -> Example {
        stage(key, #""kind": "request", "request": { "POST": "http://h/", \#(text) }"#, right, any: any)
    }

    private static func poll(_ key: String, _ text: String, _ right: JSON, any: Bool = false) -> Example {
        let poll = #""poll": { "GET": "http://h/", "status": "$.s", "until": "true", \#(text) }"#
        return stage(key, #""kind": "compute", \#(poll)"#, right, any: any)
    }

    private static func list(_ key: String, _ text: String, _ right: JSON) -> Example {
        let submit = #""submit": { "POST": "http://h/", "capture": { "id": "$.id" } }"#
        let list = #""list": { "GET": "http://h/", "items": "$.data[*]", "id": "$.id", \#(text) }"#
        let poll = #""poll": { "GET": "http://h/", "status": "$.s", "until": "true", \#(list) }"#
        return stage(key, #""kind": "compute", \#(submit), \#(poll)"#, right)
    }

    private static func upload(_ key: String, _ text: String, _ right: JSON) -> Example {
        let parts = #""part": { "PUT": "http://h/", "part": true }"#
        let base = #""kind": "upload", "file": "f", "protocol": "parts", "request": { "POST": "http://h/" }, \#(parts)"#
        return stage(key, "\(base), \(text)", right)
    }

    private static func download(_ key: String, _ text: String, _ right: JSON) -> Example {
        stage(
            key, #""kind": "download", "request": { "GET": "http://h/" }, "to": "/nowhere/f/", \#(text)"#, right)
    }

    private static func decorated(_ key: String, _ text: String, _ right: JSON, any: Bool = false) -> Example {
        request(key, #""with": [{ \#(text) }]"#, right, any: any)
    }

    private static func notify(_ key: String, _ text: String, _ right: JSON) -> Example {
        top(key, #""notify": [{ "on": ["estimated"], \#(text) }]"#, right)
    }

    static let examples: [Example] =
        ofDocument + ofStages + ofRequests + ofPolls + ofTransfers + ofDecorators

    private static let ofDocument = [
        top("services[].timeout", service(#""timeout": @"#), "5s"),
        top("services[].limits.connections", service(#""limits": { "connections": @ }"#), 2),
        top("services[].limits.computations", service(#""limits": { "computations": @ }"#), 2),
        top("services[].limits.requestsPerSecond", service(#""limits": { "requestsPerSecond": @ }"#), 0.5),
        top("services[].limits.send", service(#""limits": { "send": @ }"#), "1MB/s"),
        top("services[].limits.receive", service(#""limits": { "receive": @ }"#), "1MB/s"),
        top("services[].limits.stall.below", service(#""limits": { "stall": { "below": @ } }"#), "1KB/s"),
        top("services[].limits.stall.for", service(#""limits": { "stall": { "for": @ } }"#), "5s"),
        top("batch.atOnce", #""batch": { "atOnce": @ }"#, 3),
        top("batch.stopAfter", #""batch": { "stopAfter": @ }"#, 3),
        top("batch.spend", #""batch": { "spend": @ }"#, 2.5),
        top("batch.tolerate", #""batch": { "tolerate": @ }"#, "5%"),
        top("deadline", #""deadline": @"#, "1h"), top("concurrency", #""concurrency": @"#, 3),
        top("background.discretionary", #""background": { "discretionary": @ }"#, true),
        top("background.tolerance", #""background": { "tolerance": @ }"#, "12.5%"),
        top("background.budget.resumes", #""background": { "budget": { "resumes": @ } }"#, 0),
        top("background.budget.per", #""background": { "budget": { "per": @ } }"#, "2h"),
        top("background.budget.base", #""background": { "budget": { "base": @ } }"#, "1s"),
        top("background.budget.factor", #""background": { "budget": { "factor": @ } }"#, 1.5),
        top("background.budget.max", #""background": { "budget": { "max": @ } }"#, "1d"),
        notify("notification.at", #""at": @, "desktop": true"#, 0.9),
        notify("notification.desktop", #""desktop": @"#, false),
        notify("notification.terminal", #""terminal": @"#, true),
        notify("notification.ntfy.priority", #""ntfy": { "topic": "t", "priority": @ }"#, 5),
        notify("notification.webhook.timeout", #""webhook": { "POST": "http://h/", "timeout": @ }"#, "5s"),
    ]

    private static func service(_ text: String) -> String {
        #""services": { "s": { "url": "http://h", \#(text) } }"#
    }

    private static let ofStages = [
        wait("stage.concurrency", #""concurrency": @"#, 2),
        wait("stage.tolerate", #""forEach": "split('a', ',')", "tolerate": @"#, 2),
        wait("stage.stopOnFailure", #""forEach": "split('a', ',')", "stopOnFailure": @"#, true),
        wait("stage.continueOnFailure", #""continueOnFailure": @"#, true),
        wait("stage.deadline", #""deadline": @"#, "1h"), wait("stage.estimate", #""estimate": @"#, "1h"),
        wait("stage.discretionary", #""discretionary": @"#, true),
        wait("retry.attempts", #""retry": { "attempts": @ }"#, 3), wait("retry.for", #""retry": { "for": @ }"#, "1h"),
        wait("retry.delay", #""retry": { "delay": @ }"#, "1s"), wait("retry.factor", #""retry": { "factor": @ }"#, 1.5),
        wait("retry.max", #""retry": { "max": @ }"#, "1h"),
        wait("retry.statuses[]", #""retry": { "statuses": [500, @] }"#, 409),
        stage("waitStage.for", #""kind": "wait", "for": @"#, "1s"),
        stage(
            "callback.verify.hmac.timestamped",
            #""kind": "wait", "callback": { "verify": { "hmac": { "secret": "s", "header": "H", "timestamped": @ } } }"#,
            true),
    ]

    private static let ofRequests = [
        request("request.form[]", #""form": { "a": @ }"#, 1, any: true),
        request("request.query[]", #""query": { "a": @ }"#, 1, any: true),
        request("request.headers[]", #""headers": { "A": @ }"#, 1, any: true),
        request("request.expect[]", #""expect": [200, @]"#, 404),
        request("request.fail[].retry", #""fail": [{ "when": "false", "retry": @ }]"#, true),
        request("request.timeout", #""timeout": @"#, "5s"), request("request.redirects", #""redirects": @"#, 3),
        request("once.quoted", #""once": { "key": "K", "quoted": @ }"#, true),
        request("once.valid", #""once": { "key": "K", "valid": @ }"#, "1h"),
        request("once.resend", #""once": { "resend": @ }"#, true),
        request("once.settle", #""once": { "resend": true, "settle": @ }"#, "1s"),
        paged("next.first", #""next": { "page": "p", "first": @ }"#, 0),
        paged("next.size.value", #""next": { "page": "p", "size": { "param": "n", "value": @ } }"#, 10),
        paged("paginate.maxPages", #""next": { "link": "next" }, "maxPages": @"#, 10),
        stage(
            "paginate.text.skipLines",
            #""kind": "request", "request": { "GET": "http://h/" }, "to": "/nowhere", "paginate": { "text": { "skipLines": @ }, "next": { "link": "next" } }"#,
            1),
    ]

    private static func paged(_ key: String, _ text: String, _ right: JSON) -> Example {
        let paginate = #""paginate": { "items": "$[*]", \#(text) }"#
        return stage(key, #""kind": "request", "request": { "GET": "http://h/" }, \#(paginate)"#, right)
    }

    private static let ofPolls = [
        list("poll.list.atMost", #""query": { "ids": "${{ join(ids, ',') }}" }, "atMost": @"#, 20),
        list("poll.list.whole", #""whole": @"#, true),
        list("poll.list.maxPages", #""next": { "cursor": "$.next", "param": "after" }, "maxPages": @"#, 3),
        poll("poll.running[]", #""running": ["a", @]"#, 1, any: true),
        poll("poll.failed[]", #""failed": [@]"#, 1, any: true),
        poll("poll.cancelled[]", #""cancelled": [@]"#, 1, any: true),
        poll("poll.succeeded[]", #""succeeded": [@]"#, true, any: true),
        poll("poll.ignoreCase", #""ignoreCase": @"#, true), poll("poll.every", #""every": @"#, "5s"),
        poll("poll.settle", #""settle": @"#, "5s"), poll("poll.first", #""first": @"#, "5s"),
        poll("poll.max", #""max": @"#, "5s"),
        poll("poll.factor", #""factor": @"#, 1.25),
    ]

    private static let ofTransfers = [
        stage(
            "uploadStage.part.keep[]",
            #""kind": "upload", "file": "f", "protocol": "parts", "request": { "POST": "http://h/" }, "#
                + #""part": { "PUT": "http://h/", "part": true, "keep": { "n": @ } }"#, 1, any: true),
        upload("uploadStage.partSize", #""partSize": @"#, "1MiB"), upload("uploadStage.parallel", #""parallel": @"#, 2),
        download("downloadStage.parallel", #""parallel": @"#, 2),
        download("downloadStage.overwrite", #""overwrite": @"#, true),
        download("downloadStage.digest", #""digest": @"#, true),
        download("downloadStage.unpack.maximumSize", #""unpack": { "format": "zip", "maximumSize": @ }"#, "1GB"),
    ]

    private static let ofDecorators = [
        decorated("decorator.headers[]", #""headers": { "A": @ }"#, 1, any: true),
        decorated("decorator.query[]", #""query": { "a": @ }"#, 1, any: true),
        decorated("decorator.multipart.fields[]", #""multipart": { "fields": { "a": @ } }"#, 1, any: true),
        decorated("decorator.gzip.minimumSize", #""gzip": { "minimumSize": @ }"#, "1KiB"),
        decorated("decorator.idempotencyKey.quoted", #""idempotencyKey": { "quoted": @ }"#, true),
        decorated(
            "assertion.lifetime",
            #""oauth2": { "tokenURL": "http://h/t", "assertion": { "algorithm": "HS256", "key": "k", "lifetime": @ } }"#,
            "5m"),
        decorated("decorator.jwt.lifetime", #""jwt": { "algorithm": "HS256", "key": "k", "lifetime": @ }"#, "5m"),
        cached("decorator.cache.maxAge", #""maxAge": @"#),
        cached("decorator.cache.staleIfOffline", #""staleIfOffline": @"#),
        cached("decorator.cache.timeout", #""mode": "networkFirst", "timeout": @"#),
    ]

    private static func cached(_ key: String, _ text: String) -> Example {
        let cache = #""with": [{ "cache": { \#(text) } }]"#
        return stage(key, #""kind": "request", "request": { "GET": "http://h/", \#(cache) }"#, "5s")
    }
}

/// The keys of a schema that take a duration, a size, a rate, a number or a boolean.
private struct SchemaPlaces {
    /// By their ways from the nearest definition with a name; whether a template may stand there.
    private(set) var typed: [String: Bool] = [:]
    private let root: JSON
    private var seen: Set<String> = []
    private static let common: Set = [
        "concurrency", "continueOnFailure", "deadline", "estimate", "discretionary", "tolerate", "stopOnFailure",
    ]

    init(_ root: JSON) {
        self.root = root
        walk(root, at: "")
    }

    private mutating func walk(_ schema: JSON, at path: String) {
        var (schema, path) = (schema, path)
        if let name = Self.name(schema) {
            guard seen.insert(name).inserted else { return }
            schema = root["$defs"]?[name] ?? .null
            if !["duration", "size", "rate", "template"].contains(name) { path = name }
        }
        let isRequest = schema["properties"]?["GET"] != nil
        for (key, value) in schema["properties"]?.object ?? [:] {
            let isOfRequest = isRequest && root["$defs"]?["request"]?["properties"]?[key] != nil || key == "part"
            let owner =
                if path.hasSuffix("Stage"), Self.common.contains(key) { "stage" } else if isRequest, isOfRequest {
                    "request"
                } else { path.hasSuffix("paginate") ? "paginate" : path }
            visit(value, at: owner.isEmpty ? key : "\(owner).\(key)")
        }
        for key in ["items", "additionalProperties"] {
            if let inner = schema[key], inner.object != nil { visit(inner, at: path + "[]") }
        }
        for key in ["anyOf", "allOf", "oneOf"] { for part in schema[key]?.array ?? [] { walk(part, at: path) } }
        if let then = schema["then"] { walk(then, at: path) }
    }

    private mutating func visit(_ schema: JSON, at path: String) {
        if isTyped(schema) { typed[path] = typed[path] ?? true && admitsTemplate(schema) }
        walk(schema, at: path)
    }

    private static func name(_ schema: JSON) -> String? {
        schema["$ref"]?.string?.split(separator: "/").last.map(String.init)
    }

    private func resolved(_ schema: JSON) -> JSON {
        Self.name(schema).flatMap { root["$defs"]?[$0] } ?? schema
    }

    private func isTyped(_ schema: JSON) -> Bool {
        if let name = Self.name(schema), ["duration", "size", "rate"].contains(name) { return true }
        let schema = resolved(schema)
        let types = (schema["type"].map { $0.array ?? [$0] } ?? []).compactMap(\.string)
        if types.contains(where: ["number", "integer", "boolean"].contains) { return true }
        if let constant = schema["const"], constant.string == nil { return true }
        return (schema["anyOf"]?.array ?? []).contains(where: isTyped)
    }

    private func admitsTemplate(_ schema: JSON) -> Bool {
        let schema = resolved(schema)
        let types = (schema["type"].map { $0.array ?? [$0] } ?? []).compactMap(\.string)
        if types.contains("string"), schema["enum"] == nil {
            guard let pattern = schema["pattern"]?.string else { return true }
            return (try? LinearRegex(pattern))?.firstMatch(in: "${{ inputs.v }}") != nil
        }
        return (schema["anyOf"]?.array ?? []).contains(where: admitsTemplate)
    }
}
