import ArgumentParser
import JSONPath
import PipelineCore
import PipelineKit

/// The cost of reading: a document of many stages, selectors, expressions. Processor time of this process alone.
struct DocumentsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "documents",
        abstract: "Validate a large document; evaluate selectors and expressions; print CPU and rates.")

    @Option(help: "Stages of the document.") var stages = 10_000

    func run() async throws {
        let settings = Settings(stateFolder: "/nonexistent", secretsFile: nil, environment: [:])
        let planner = Planner(catalogue: Workspace(settings: settings).catalogue)
        let source = SourceText(name: "large.json", text: Self.document(stages))
        _ = try planner.plan(SourceText(name: "small.json", text: Self.document(10)))
        let seconds = try Self.cpu { _ = try planner.plan(source) }
        print(
            "a document of \(stages) stages (\(source.bytes.count >> 10) KiB): validated in \(text(seconds, 3)) s of CPU"
        )
        try Self.selectors()
        try Self.expressions()
        try Self.largeAnswer()
    }

    /// A body of 100 MB: how long selectors take that look at all of it.
    private static func largeAnswer() throws {
        let item = #"{"id":"0123456789","state":"running","url":"https://example.com/files/0123456789","size":123456},"#
        var bytes = Array("[".utf8)
        while bytes.count < 100_000_000 { bytes.append(contentsOf: item.utf8) }
        bytes[bytes.count - 1] = UInt8(ascii: "]")
        var body = JSON.null
        print("a body of 100 MB: read in \(text(try cpu { body = try JSON.parse(bytes) }, 2)) s of CPU")
        for query in ["$[-1].url", "$..url", "$[?search(@.url, '(x|9)+$') && @.size > 1].id"] {
            let parsed = try JSONPathQuery(query)
            var outcome = ""
            let seconds = cpu {
                do throws(JSONPathEvaluationError) {
                    outcome = "\(try parsed.nodes(in: body).count) nodes"
                } catch {
                    outcome = error.message
                }
            }
            print("selector \(query) on it: \(text(seconds, 2)) s of CPU, \(outcome)")
        }
    }

    private static func selectors() throws {
        let items = (0..<100).map { #"{"id":"\#($0)","state":"\#($0 % 7 == 0 ? "done" : "running")","n":\#($0)}"# }
        let body = try JSON.parse(#"{"data":[\#(items.joined(separator: ","))],"result":{"url":"/files/1"}}"#)
        for query in ["$.result.url", "$.data[*].id", "$.data[?@.state=='done' && @.n>10].id", "$..url"] {
            let parsed = try JSONPathQuery(query)
            try rate("selector \(query)", times: query.contains("data") || query.contains("..") ? 20_000 : 500_000) {
                _ = try parsed.nodes(in: body)
            }
        }
    }

    private static func expressions() throws {
        let answer: JSON = ["status": 200, "headers": [:], "body": ["state": "done", "failed": 0]]
        let scope = Scope(inputs: ["video": "/videos/me.mp4", "n": 3], stages: ["a": ["id": "x1"]], response: answer)
        let texts = [
            "stages.a.id", "response.status == 200 && response.body.failed > 0",
            "stem(inputs.video) + '-' + lower(stages.a.id ?? 'none')",
        ]
        for text in texts {
            let expression = try Expression.parse(text, in: SourceRange(start: 0, end: text.utf8.count))
            try rate("expression \(text)", times: 300_000) { _ = try expression.evaluate(in: scope) }
        }
    }

    private static func rate(_ name: String, times: Int, _ work: () throws -> Void) throws {
        let seconds = try cpu { for _ in 0..<times { try work() } }
        print("\(name): \(text(Double(times) / seconds, 0)) a second")
    }

    private static func cpu(_ work: () throws -> Void) rethrows -> Double {
        let before = Measured.ofThisProcess.cpu
        try work()
        return Measured.ofThisProcess.cpu - before
    }

    private static func document(_ count: Int) -> String {
        let stages = (0..<count).map { index in
            let read = index == 0 ? "start" : "${{ stages.s\(index - 1).id }}"
            return #"""
                { "id": "s\#(index)", "kind": "request", "service": "api", "request": { "POST": "/items/\#(read)",
                  "json": { "n": \#(index), "text": "${{ env.A ?? 'b' }}" }, "timeout": "30s",
                  "capture": { "id": "$.id", "url": "header:Location" } } }
                """#
        }
        return """
            { "pipeline": 1, "name": "large",
              "services": { "api": { "url": "http://localhost", "with": [ { "bearer": "${{ secrets.TOKEN }}" } ] } },
              "stages": [\n\(stages.joined(separator: ",\n"))\n] }
            """
    }
}
