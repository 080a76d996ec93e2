import JSONPath
import PipelineCore
import Testing

@Suite("Mistakes in a request")
struct RequestReadingTests {
    private func report(_ request: String, stage: String = "", with: String = "[]", header: String = "") -> String {
        StageBench.report(
            #"{ "id": "a", "kind": "compute", "service": "api", \#(stage) "submit": { \#(request) } }"#, header: header,
            with: with)
    }

    @Test("a capture with a wrong selector is one all the same: who reads it has made no mistake")
    func brokenCapture() {
        let report = report(#""POST": "/a", "capture": { "id": "id" }, "json": { "n": "${{ self.id }}" }"#)
        #expect(report.contains(#""id" is no selector"#))
        #expect(!report.contains("has no capture"))
    }

    /// The sentence was there, and nobody saw it.
    @Test("a pattern in a selector that matches nothing is warned of, where it stands")
    func deadPattern() throws {
        let stage = #"""
            { "id": "a", "kind": "compute", "service": "api", "submit": { "POST": "/a" }, "capture": { "id": "$.id" },
              "poll": { "GET": "/a/${{ self.id }}", "status": "$.all[?match(@.state, 1)].state", "succeeded": ["done"],
                        "capture": { "url": ["$.url", "$.all[?search(@.x, '(?i)a')].url"] } } }
            """#
        let found = try StageBench.plan(stage, network: ScriptedService().network).warnings.diagnostics
        #expect(found.map(\.pointer) == ["/stages/0/poll/status", "/stages/0/poll/capture/url/1"])
        #expect(found.first?.message == "match() takes text as its pattern; this matches nothing")
        #expect(found.last?.message.hasPrefix("this is no I-Regexp and matches nothing: ") == true)
    }

    /// Each poll was good, and no end was ever seen.
    @Test("the number of the HTTP status beside a text is warned of", arguments: ["==", "!="])
    func statusAsText(comparison: String) throws {
        func warnings(_ until: String) throws -> [String] {
            let stage =
                #"{ "id": "a", "kind": "compute", "service": "api", "poll": { "GET": "/a", "until": "\#(until)" } }"#
            return try StageBench.plan(stage, network: ScriptedService().network).warnings.diagnostics.map(\.message)
        }
        let warned = ["response.status is the number of the HTTP status, which equals no text"]
        #expect(try warnings("response.status \(comparison) 'completed'") == warned)
        #expect(try warnings("'200' \(comparison) response.status") == warned)
        #expect(try warnings("response.status \(comparison) 200").isEmpty)
        #expect(try warnings("response.body.status \(comparison) 'completed'").isEmpty)
    }

    /// The token was never asked for, and nothing said so.
    @Test("a second credential in a list is warned of, a header beside one is not")
    func secondCredential() throws {
        func warnings(_ list: String) throws -> [String] {
            let stage =
                "{ \"id\": \"a\", \"kind\": \"request\", \"service\": \"api\", \"request\": { \"GET\": \"/a\", \"with\": [\(list)] } }"
            return try StageBench.plan(stage, network: ScriptedService().network).warnings.diagnostics.map(\.message)
        }
        let (key, token) = (#"{ "apiKey": { "header": "X-Key", "value": "k" } }"#, #"{ "bearer": "t" }"#)
        let warned = "'bearer' applies only where 'apiKey' before it has no value: a request has one of them"
        #expect(try warnings("\(key), \(token)") == [warned])
        #expect(try warnings(#"{ "headers": { "X-Key": "k" } }, \#(token)"#).isEmpty)
    }

    @Test("a body beside a decorator that makes another is warned of", arguments: [#""json": 1"#, #""text": "x""#, ""])
    func secondBody(body: String) throws {
        let form = #""with": [ { "multipart": { "fields": { "a": "b" } } } ]"#
        let stage = #"{ "id": "a", "kind": "request", "service": "api", "request": { "POST": "/a", \#(form)"#
        let plan = try StageBench.plan(
            stage + (body.isEmpty ? "" : ", \(body)") + " } }", network: ScriptedService().network)
        let found = plan.warnings.diagnostics
        let name = body.prefix { $0 != ":" }
        #expect(
            found.map(\.message)
                == (body.isEmpty ? [] : [#"the form of "multipart" is not sent: the body is \#(name)"#]))
        #expect(found.allSatisfy { $0.hint?.contains(#"into its "fields""#) == true })
    }

    @Test(
        "are told with their place and a hint",
        arguments: [
            (#""json": 1"#, "this request has no method", #"add one as a key, for example "GET": "/path""#),
            (#""GET": "/a", "POST": "/b""#, "this request has 2 methods", "keep one of GET, POST"),
            (#""POTS": "/a""#, "unknown key 'POTS'", "did you mean 'POST'?"),
            (#""POST": "jobs""#, "begins with / or with http:// or https://", #"write "/jobs" for a path"#),
            (#""POST": "ftp://x/y""#, "begins with / or with http:// or https://", ""),
            (#""POST": """#, "this request has no URL", #"write "/""#),
            (#""POST": 5"#, "this must be a string, not a number", ""),
            (
                #""POST": "/a", "json": 1, "text": "x""#, "a request has one body, and this one has 2",
                #"keep one of "json", "text""#
            ),
            (#""POST": "/a", "expect": ["2x"]"#, #""2x" is no status"#, #"a class such as "2xx""#),
            (#""POST": "/a", "expect": [700]"#, "700 is no status", ""),
            (#""POST": "/a", "headers": { "Content-Length": "1" }"#, "Content-Length cannot be set", "take it out"),
            (#""POST": "/a", "headers": { "bad name": "1" }"#, #""bad name" is no name of a header"#, "X-Request-ID"),
            (
                #""POST": "/a", "headers": { "X-A": "one\ntwo" }"#,
                "a header is one line, and this value has a line break", "write it as one line"
            ),
            (#""POST": "http://h:80:90/x""#, "'h:80:90' has more than one port", "8443"),
            (#""POST": "http://h:99999/x""#, "'99999' is no port", ""),
            (#""POST": "http://fe80::1:2/x""#, "an IPv6 address stands in brackets: [fe80::1:2]", ""),
            (#""POST": "/a", "timeout": 30"#, "a duration needs a unit", ""),
            (
                #""POST": "/a", "redirects": -1"#, "this must be a whole number from 0 to 50",
                "choose one within these bounds"
            ),
            (#""POST": "/a", "redirects": 1.5"#, "this must be a whole number from 0 to 50", "for example 2"),
            (
                #""POST": "/a", "credentials": "all""#, "there is no way of sending credentials called 'all'",
                "any-origin"
            ),
            (#""POST": "/a", "capture": { "id": "id" }"#, #""id" is no selector"#, #"did you mean "$.id"?"#),
            (#""POST": "/a", "fail": [ { "message": "x" } ]"#, "'when' is missing", ""),
            (
                #""POST": "/a/{{ inputs.x }}/b""#, #""{{ inputs.x }}" is sent as it stands here"#,
                #"an expression is written "${{ inputs.x }}""#
            ),
            (#""POST": "/jobs/$.id""#, #""$.id" is sent as it stands here"#, "${{ stages.ID.NAME }}"),
            (#""url": "http://h/x", "method": "post""#, "unknown key 'method'", #""POST": "http://h/x""#),
            (#""POST": "/a", "body": {}"#, "unknown key 'body'", #"one of "json", "form""#),
            (#""POST": "/a${{ self.nope }}""#, "this stage has no capture called 'nope'", ""),
            (#""POST": "/a", "once": {}"#, "'once' does not say how a lost answer is settled", ""),
            (#""POST": "/a", "once": { "key": true }"#, "${{ self.key }} stands nowhere in this request", ""),
            (#""POST": "/a", "once": { "key": 5 }"#, "the key is the name of a header, or true, not a number", ""),
            (#""POST": "/a", "once": { "key": "K", "resend": true }"#, "'once' has more than one way: key, resend", ""),
            (
                #""POST": "/a", "once": { "resend": true, "valid": "1h" }"#, "'valid' has a meaning only beside 'key'",
                ""
            ),
            (#""POST": "/a", "once": { "name": { "GET": "/b" } }"#, "'ours' is missing", "response.body"),
            (
                #""POST": "/a", "once": { "match": { "list": { "GET": "/b", "paginate": {} }, "items": "$", "where": "true" } }"#,
                "'next' is missing here", "\"link\""
            ),
            (
                #""POST": "/a", "once": { "key": "K" }, "with": [ { "idempotencyKey": {} } ]"#,
                "the key would be sent twice", "remove the decorator"
            ),
        ])
    func mistakes(request: String, message: String, hint: String) {
        let report = report(request)
        #expect(report.contains(message))
        #expect(report.contains(hint))
        #expect(report.hasPrefix("test.json:"))
    }

    /// The pointer was that of the whole map, so that a program could not tell which entry is wrong.
    @Test(
        "a wrong capture or header is told with its own pointer",
        arguments: [
            (#""capture": { "a": "$[", "b": "$.b" }"#, "capture/a"),
            (#""capture": { "b": { "select": "nope" } }"#, "capture/b/select"),
            (#""capture": { "b": { "select": "$.b", "optinal": true } }"#, "capture/b/optinal"),
            (#""capture": { "a": "$.a", "key": "$.k" }"#, "capture/key"),
            (#""headers": { "X-A": "1", "a b": "1" }"#, "headers/a b"),
            (#""headers": { "X-A": "one\ntwo" }"#, "headers/X-A"),
        ])
    func pointers(member: String, pointer: String) {
        #expect(report(#""POST": "/a", \#(member)"#).contains("at /stages/0/submit/\(pointer)\n"))
    }

    @Test("idempotencyKey at the service is found beside once.key too")
    func outerIdempotencyKey() {
        let report = report(
            #""POST": "/a", "once": { "key": "K" }"#, with: #"[ { "idempotencyKey": {} } ]"#)
        #expect(report.contains("the key would be sent twice"))
    }

    @Test("a path without a service is an error")
    func noService() {
        let report = StageBench.report(#"{ "id": "a", "kind": "compute", "submit": { "POST": "/jobs" } }"#)
        #expect(report.contains("the stage names no service"))
        // Also beside other mistakes.
        let slip = StageBench.report(#"{ "id": "a", "kind": "request", "request": { "GET": "/jobs", "expct": 200 } }"#)
        #expect(slip.contains("did you mean 'expect'?") && slip.contains("the stage names no service"))
        #expect(
            StageBench.report(#"{ "id": "a", "kind": "compute", "submit": { "POST": "http://h/jobs" } }"#).isEmpty)
    }

    @Test(
        "a decorator that is unknown is told so, wherever it stands",
        arguments: [("baerer", "there is no decorator called 'baerer'")])
    func decorators(name: String, message: String) {
        for report in [
            report(#""POST": "/a", "with": [ { "\#(name)": {} } ]"#),
            report(#""POST": "/a""#, stage: #""with": [ { "\#(name)": {} } ],"#),
            report(#""POST": "/a""#, with: #"[ { "\#(name)": {} } ]"#),
            report(#""POST": "/a""#, header: #""with": [ { "\#(name)": {} } ],"#),
        ] {
            #expect(report.contains(message))
        }
        #expect(report(#""POST": "/a", "with": [ { "baerer": "x" } ]"#).contains("did you mean 'bearer'?"))
    }

    @Test("a service that no stage uses has its decorators read too")
    func unusedService() {
        let report = StageBench.report(
            #"{ "id": "a", "kind": "compute", "submit": { "POST": "http://h/jobs" } }"#, with: #"[ { "berer": "x" } ]"#)
        #expect(report.contains("there is no decorator called 'berer'"))
    }

    @Test(
        "a compute stage says what it lacks",
        arguments: [
            (#""capture": {}"#, "this stage has neither 'submit' nor 'poll'"),
            (#""poll": { "GET": "/a", "status": "$.s" }"#, "does not say when the job has succeeded"),
            (#""poll": { "GET": "/a", "succeeded": ["x"] }"#, "'status' does not say where the state stands"),
            (
                #""poll": { "GET": "/a", "status": "$.s", "succeeded": [null] }"#,
                "a state is a string, a number, true or false, not null"
            ),
            (#""poll": { "GET": "/a", "status": "$.s", "succeeded": "x" }"#, "this must be an array, not a string"),
            (#""poll": { "GET": "/a", "until": "true", "every": "often" }"#, "is no duration"),
            (#""poll": { "GET": "/a", "until": "true", "untill": "x" }"#, "unknown key 'untill'"),
            (#""poll": { "GET": "/a", "until": "true", "once": {} }"#, "unknown key 'once'"),
        ])
    func compute(members: String, message: String) {
        let report = StageBench.report(#"{ "id": "a", "kind": "compute", "service": "api", \#(members) }"#)
        #expect(report.contains(message))
    }

    @Test("all mistakes of a stage are told at once")
    func allAtOnce() {
        let report = report(#""POTS": "/a", "expect": ["x"], "with": [ { "gzap": {} } ], "tiemout": "1s""#)
        #expect(report.components(of: ": error: ") == 4)
    }

    /// Selectors and decorators took "$schema" for a key of theirs.
    @Test("a request may hold x- keys and $schema in each of its objects, and headers of that name count")
    func extensionKeys() {
        #expect(report(#""POST": "/a", "capture": { "id": { "select": "$.id", "$schema": "s", "x-a": 1 } }"#).isEmpty)
        #expect(report(#""POST": "/a", "with": [ { "bearer": "t", "$schema": "s", "x-a": 1 } ]"#).isEmpty)
        #expect(report(#""POST": "/a", "x-note": 1, "headers": { "x-api-key": "k" }"#).isEmpty)
    }
}

extension String {
    /// Returns how often a text stands in this one.
    fileprivate func components(of text: String) -> Int { ranges(of: text).count }
}
