import Foundation
import JSONPath
import PipelineCore
import Testing

@Suite("Valid documents")
struct ValidDocumentTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Valid")
    static let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()

    static func source(_ name: String) throws -> SourceText {
        SourceText(name: name, bytes: Array(try Data(contentsOf: folder.appending(path: name))))
    }

    @Test("the document is planned, and the schema accepts it", arguments: names)
    func planned(name: String) throws {
        let source = try Self.source(name)
        do {
            _ = try Planner(catalogue: SampleKinds.catalogue).plan(source)
        } catch {
            Issue.record("\(error.report)")
        }
        #expect(SchemaValidator.sample.mistakes(of: try JSONNode.parse(source).json) == [])
    }

    @Test("the documents are found")
    func found() { #expect(Self.names.contains("selfie.json")) }

    @Test("the plan of the selfie example says what its stages need, read and make")
    func selfie() throws {
        let plan = try Planner(catalogue: SampleKinds.catalogue).plan(try Self.source("selfie.json"))
        #expect(plan.stages.map(\.id) == ["upload", "model", "download"])
        #expect(plan.stage("model")?.needs == ["upload"])
        #expect(plan.stage("download")?.reads == ["model"])
        #expect(plan.stage("model")?.captures.map(\.name) == ["id", "url", "sha256"])
        #expect(plan.stage("model")?.place == "selfie.json:22:5")
        #expect(plan.secrets == ["SELFIE_TOKEN"])
        #expect(plan.optionalSecrets == ["SELFIE_TOKEN"])
        #expect(plan.environment == ["SELFIE_URL"])
        #expect(plan.dependents(of: "model") == ["model", "download"])
    }

    @Test("items are the author's own when they are made from inputs alone, through other stages too")
    func ownItems() throws {
        let text = #"""
            { "pipeline": 1, "name": "items", "inputs": { "names": { "type": "json" } },
              "stages": [
                { "id": "own", "kind": "wait", "for": "1s", "forEach": "split(inputs.names, ',')" },
                { "id": "after", "kind": "wait", "for": "1s", "forEach": { "stage": "own" } },
                { "id": "list", "kind": "request", "request": { "GET": "http://h", "capture": { "x": "$.x" } } },
                { "id": "theirs", "kind": "wait", "for": "1s", "forEach": "stages.list.x" },
                { "id": "last", "kind": "wait", "for": "1s", "forEach": { "stage": "theirs" } }
              ] }
            """#
        let plan = try Planner(catalogue: SampleKinds.catalogue).plan(SourceText(name: "items.json", text: text))
        #expect(plan.stages.filter { plan.hasOwnItems($0.id) }.map(\.id) == ["own", "after"])
    }

    /// A member such as "Is it ok?" lost its mark or, when null, was left out, as in the body of a request.
    @Test("a default is data: names of its members that end in ? stay as they are, and it may be one of 'enum'")
    func defaults() throws {
        let value = #"{"Is it ok?":"yes","gone?":null,"lit??":1}"#
        let text = #"""
            { "pipeline": 1, "name": "data",
              "inputs": { "v": { "type": "json", "default": \#(value), "enum": [ 1, \#(value) ] } },
              "stages": [ { "id": "w", "kind": "wait", "for": "1s" } ] }
            """#
        let plan = try Planner(catalogue: SampleKinds.catalogue).plan(SourceText(name: "data.json", text: text))
        #expect(plan.definition.inputs.first?.fallback?.constant?.text == value)
    }

    @Test("background and notify become plain values")
    func background() throws {
        let definition = try Planner(catalogue: SampleKinds.catalogue).plan(try Self.source("background.json"))
            .definition
        #expect(definition.background.isDiscretionary.constant == true)
        #expect(definition.background.tolerance.constant == .duration(.seconds(300)))
        let usual = ResumeBudget(.limited(.standard), in: Scope())
        let budget = ResumeBudget(
            allowance: 10, window: usual.window, base: usual.base, factor: usual.factor, maximum: .seconds(7200))
        #expect(ResumeBudget(definition.background.budget, in: Scope()) == budget)
        #expect(
            definition.notifications.map(\.events) == [
                [.started], [.estimated, .late], [.succeeded], [.failed], [.unknown], [.deferred],
            ])
        #expect(definition.notifications[1].quantile?.constant == 0.9)
        guard case .webhook(let webhook) = definition.notifications[2].sink,
            case .email(let email) = definition.notifications[5].sink
        else { throw Unexpected() }
        #expect(webhook.method == "POST" && webhook.signature?.text == "${{ secrets.HOOK }}")
        #expect(email.recipients.map(\.text) == ["a@example.com", "b@example.com"])
    }

    @Test("a document without background has no budget: nothing is held back")
    func usualBackground() throws {
        let definition = try Planner(catalogue: SampleKinds.catalogue).plan(try Self.source("selfie.json")).definition
        #expect(definition.background.isDiscretionary.constant == false)
        #expect(definition.background.tolerance.constant == .fraction(0.1))
        #expect(ResumeBudget(definition.background.budget, in: Scope()) == .unlimited)
    }

    private struct Unexpected: Error {}
}
