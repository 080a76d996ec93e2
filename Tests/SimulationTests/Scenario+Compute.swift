import PipelineTestKit

/// Pipelines of the built-in `compute` stage.
extension Scenario {
    static let computes = [
        computeWithKey, computeByName, computeByMatch, computeWithoutOnce, computePushed, computeStream,
        computeMoving,
        computeCalledBack, computeChain,
        computeFan, computeItems, computeItemChain,
    ]

    static let computeWithKey = Scenario(
        name: "compute with a key", document: document([compute("model", input: input, once: key)]),
        outputs: ["model": model(input)])

    static let computeByName = Scenario(
        name: "compute found by name", document: document([compute("model", input: input, once: byName)]),
        outputs: ["model": model(input)])

    static let computeByMatch = Scenario(
        name: "compute found in a list", document: document([compute("model", input: input, once: byMatch)]),
        outputs: ["model": model(input)], mayFreeze: false)

    static let computeWithoutOnce = Scenario(
        name: "compute that can't be settled", document: document([compute("model", input: input, once: nil)]),
        outputs: ["model": model(input)], mayBeUnknown: true, isResolvable: true)

    static let computePushed = Scenario(
        name: "compute that is pushed",
        document: document([
            compute("model", input: input, once: key, more: #""callback": {}"#),
            compute("second", input: "${{ stages.model.value }} again", once: key, more: #""callback": {}"#),
        ]),
        outputs: ["model": model(input), "second": model("\(model(input)) again")])

    static let computeStream = Scenario(
        name: "computes that are streams of events",
        document: document([
            compute("model", input: input, once: key, poll: events),
            compute("second", input: "${{ stages.model.value }} again", once: byName, poll: events),
        ]),
        outputs: ["model": model(input), "second": model("\(model(input)) again")], mayFreeze: false)

    static let computeMoving = Scenario(
        name: "computes of which each answer says where to ask next",
        document: document([
            compute("model", input: input, once: key, poll: moving),
            compute("second", input: "${{ stages.model.value }} again", once: byName, poll: moving),
        ]),
        outputs: ["model": model(input), "second": model("\(model(input)) again")])

    static let computeCalledBack = Scenario(
        name: "computes whose results come by callback alone",
        document: document([
            compute("model", input: input, once: key, poll: nil, more: callback),
            compute("second", input: "${{ stages.model.value }} again", once: key, poll: nil, more: callback),
        ]),
        outputs: ["model": model(input), "second": model("\(model(input)) again")], isCalledBack: true)

    static let computeChain = Scenario(
        name: "three computes in a row",
        document: document([
            compute("first", input: input, once: key),
            compute("second", input: "${{ stages.first.value }} again", once: byName),
            compute("third", input: "${{ stages.second.value }}!", once: byMatch),
        ]),
        outputs: [
            "first": model(input), "second": model("\(model(input)) again"),
            "third": model("\(model("\(model(input)) again"))!"),
        ], mayFreeze: false)

    static let computeFan = Scenario(
        name: "four computes at a time and one after them",
        document: document([
            compute("a", input: "a", once: key, more: #""needs": []"#),
            compute("b", input: "b", once: byName, more: #""needs": []"#),
            compute("c", input: "c", once: key, more: #""needs": []"#),
            compute("d", input: "doomed", once: key, more: #""needs": [], "continueOnFailure": true"#),
            compute(
                "e", input: "${{ stages.a.value }} ${{ stages.b.value }} ${{ stages.c.value }}", once: key,
                more: #""needs": ["d"]"#),
        ]),
        outputs: ["e": model("\(model("a")) \(model("b")) \(model("c"))")])

    static let computeItems = Scenario(
        name: "a compute for each of six items, then one of them all",
        document: document(
            [
                compute(
                    "each", input: "${{ item }}", once: key, more: #""forEach": "split('a,b,c,d,e,f', ',')""#),
                compute("all", input: "${{ join(stages.each.value, '+') }}", once: key),
            ],
            finally: [compute("last", input: "finally", once: key)]),
        outputs: ["all": model("abcdef".map { model("\($0)") }.joined(separator: "+")), "last": model("finally")])

    /// Items that follow items, of captures that are void after a minute: what a person has done again, from the items or
    /// from what renews them, is followed once more.
    static let computeItemChain = Scenario(
        name: "computes for items that follow items, renewed and done again",
        document: document([
            compute("token", input: input, once: key, more: #""expires": { "in": "60s" }"#),
            compute(
                "each", input: "${{ item }} ${{ stages.token.value }}", once: key,
                more: #""forEach": "split('a,b,c,d', ',')", "concurrency": 2, "renew": "token""#),
            compute(
                "after", input: "${{ stages.each.value }}!", once: byName,
                more: #""forEach": { "stage": "each" }, "concurrency": 2"#),
            compute("all", input: "${{ join(stages.after.value, '+') }}", once: key),
        ]),
        outputs: [
            "all": model("abcd".map { model("\(model("\($0) \(model(input))"))!") }.joined(separator: "+"))
        ], restarts: ["token", "each", "after", "all"])

    private static let key = #"{ "key": "Idempotency-Key" }"#
    private static let byName =
        #"{ "name": { "GET": "/names/${{ self.key }}" }, "ours": "response.body.tag == self.key" }"#
    private static let byMatch = """
        { "match": { "list": { "GET": "/jobs" }, "items": "$.items[*]", "where": "item.tag == self.key" } }
        """

    static func model(_ input: String) -> String { ModelServer.output(of: input) }

    private static func document(_ stages: [String], finally: [String] = []) -> String {
        """
        { "pipeline": 1, "name": "computes", "retry": { "attempts": 1000, "for": "7d" },
          "services": { "models": { "url": "http://models", "with": [ { "bearer": "${{ secrets.TOKEN }}" } ] } },
          "stages": [ \(stages.joined(separator: ",\n")) ], "finally": [ \(finally.joined(separator: ",\n")) ] }
        """
    }

    private static let asked = """
        "GET": "/jobs/${{ self.id }}", "status": "$.state", "running": ["queued", "running"],
                        "succeeded": ["done"], "failed": ["error"], "cancelled": ["cancelled"],
        """

    private static let moving = asked.replacing(
        "/jobs/${{ self.id }}", with: "/places/${{ self.id }}/${{ self.next ?? 0 }}")

    private static let events = """
        "GET": "/events/${{ self.id }}",
                        "events": { "succeeded": ["done"], "failed": ["error", "cancelled"], "progress": ["progress"] },
        """

    private static let callback = """
        "callback": { "verify": { "token": "${{ secrets.TOKEN }}" }, "match": "response.body.id == self.id",
                        "capture": { "value": "$.result.value" } }
        """

    private static func compute(
        _ id: String, input: String, once: String?, poll: String? = asked, more: String? = nil
    ) -> String {
        let name = once == byName ? #", "name": "${{ self.key }}""# : ""
        return """
            { "id": "\(id)", "kind": "compute", "service": "models"\(more.map { ", \($0)" } ?? ""),
              "submit": { "POST": "/jobs", "json": { "input": "\(input)", "tag": "${{ self.key }}"\(name) },
                          "capture": { "id": "$.id" }\(once.map { ", \"once\": \($0)" } ?? "") },
              \(poll.map { pollMember($0) } ?? "")
              "cancel": { "DELETE": "/jobs/${{ self.id }}" }, "estimate": "60s" }
            """
    }

    private static func pollMember(_ poll: String) -> String {
        let next = poll == moving ? #""next": "$.next", "# : ""
        return #""poll": { \#(poll) "progress": "$.percent", "capture": { \#(next)"value": "$.result.value" } },"#
    }
}
