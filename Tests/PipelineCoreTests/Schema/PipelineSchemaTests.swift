import JSONPath
import PipelineCore
import SeededNumbers
import Testing

@Suite("JSON Schema")
struct PipelineSchemaTests {
    private let schema = PipelineSchema(catalogue: SampleKinds.catalogue).json
    private let validator = SchemaValidator.sample
    private let planner = Planner(catalogue: SampleKinds.catalogue)

    @Test("it is made of the tables of fields, with what people read")
    func fields() {
        #expect(schema["$schema"] == "https://json-schema.org/draft/2020-12/schema")
        #expect(schema["properties"]?["name"]?["pattern"] == "^[a-z][a-z0-9-]*$")
        #expect(schema["properties"]?["name"]?["description"] != nil)
        #expect(schema["required"] == ["pipeline", "name", "stages"])
        #expect(schema["$defs"]?["uploadStage"]?["properties"]?["protocol"]?["default"] == "auto")
        let branches = schema["$defs"]?["stage"]?["allOf"]?.array ?? []
        #expect(branches.contains { $0["then"]?["description"] == "Sends a file." })
    }

    @Test("a request stands in it once, however many kinds have one")
    func sharing() {
        let references = schema.text.components(separatedBy: "\"$ref\":\"#/$defs/request\"")
        #expect(references.count > 3)
        #expect(schema["$defs"]?["request"]?["properties"]?["GET"] != nil)
    }

    @Test("every reference in it leads to a definition, and every definition is used")
    func references() {
        let names = Set(schema["$defs"]?.object?.names ?? [])
        let used = Set(
            schema.text.components(separatedBy: "#/$defs/").dropFirst().map { String($0.prefix { $0 != "\"" }) })
        #expect(names == used)
    }

    @Test("keys that this version does not do are refused by it as well")
    func laterKeys() {
        #expect(schema["$defs"]?["waitStage"]?["properties"]?["forEach"] != nil)
        #expect(schema["$defs"]?["waitStage"]?["properties"]?["paginate"] == nil)
    }

    @Test(
        "what is wrong by its shape alone the schema refuses too",
        arguments: [
            #"{"pipeline":2,"name":"a","stages":[{"id":"w","kind":"wait","for":"1s"}]}"#,
            #"{"pipeline":1,"name":"A b","stages":[{"id":"w","kind":"wait","for":"1s"}]}"#,
            #"{"pipeline":1,"name":"a","stages":[]}"#,
            #"{"pipeline":1,"name":"a","stages":[{"id":"w","kind":"nope"}]}"#,
            #"{"pipeline":1,"name":"a","stages":[{"id":"w","kind":"wait","for":"1s","fro":"1s"}]}"#,
            #"{"pipeline":1,"name":"a","stages":[{"id":"w","kind":"wait","for":"soon"}]}"#,
            #"{"pipeline":1,"name":"a","stages":[{"id":"w","kind":"wait","for":"1s","retry":{"attempts":0}}]}"#,
            #"{"pipeline":1,"name":"a","stages":[{"id":"w","kind":"wait","for":"1s","with":[{"nope":1}]}]}"#,
            #"{"pipeline":1,"name":"a","stages":[{"id":"w","kind":"wait","for":"1s"}],"notify":[{"on":["failed"]}]}"#,
            #"{"pipeline":1,"name":"a","stages":[{"id":"w","kind":"write","to":"a"}]}"#,
            #"{"pipeline":1,"name":"a","stages":[{"id":"w","kind":"request","request":{"GET":"/","POST":"/"}}]}"#,
        ])
    func refused(text: String) throws {
        let source = SourceText(name: "a.json", text: text)
        #expect(throws: DefinitionError.self) { try planner.plan(source) }
        #expect(validator.mistakes(of: try JSONNode.parse(source).json) != [])
    }

    /// The reader is asked with the text of what the schema saw, so that both judge the same document.
    @Test("of changed documents the schema accepts each that the planner accepts, and refuses most that it refuses")
    func bothDirections() throws {
        var random = SplitMix64(seed: 5)
        let documents = try ValidDocumentTests.names.map { try JSONNode.parse(try ValidDocumentTests.source($0)).json }
        var (refusedByReader, refusedByBoth, accepted) = (0, 0, 0)
        for round in 0..<700 {
            var mutation = DocumentMutation(random: random)
            let document = mutation.mutated(documents[round % documents.count])
            random = mutation.random
            let mistakes = validator.mistakes(of: document)
            if let error = error(of: document) {
                refusedByReader += 1
                if !mistakes.isEmpty { refusedByBoth += 1 }
                let isStructural = error.diagnostics.contains { Self.isStructural($0.message) }
                #expect(
                    !isStructural || !mistakes.isEmpty, "the schema accepts what the reader refuses:\n\(error.report)")
            } else {
                accepted += 1
                #expect(mistakes == [], "the schema refuses \(document.text)")
            }
        }
        #expect(accepted > 50 && refusedByBoth > 150 && refusedByBoth <= refusedByReader)
    }

    private func error(of document: JSON) -> DefinitionError? {
        do throws(DefinitionError) {
            _ = try planner.plan(SourceText(name: "a.json", text: document.prettyText()))
            return nil
        } catch { return error }
    }

    /// Mistakes of shape: keys, types, and what is required. Those inside selectors and decorators are the kinds' own.
    private static func isStructural(_ message: String) -> Bool {
        if message.hasPrefix("\"") { return false }
        return ["unknown key", "must be an object", "must be an array", "must be true or false", "must be a number"]
            .contains { message.contains($0) } || message.hasSuffix("is missing here")
    }
}

extension String {
    fileprivate func components(separatedBy separator: String) -> [Substring] {
        split(separator: separator, omittingEmptySubsequences: false)
    }
}
