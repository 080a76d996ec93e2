import Foundation
import JSONPath
import PipelineCore
import PipelineKit
import PipelineStages
import Testing

@Suite("Values of inputs") struct InputValueTests {
    private final class Place {
        let path = FileManager.default.temporaryDirectory.appending(path: "inputs-\(UUID().uuidString)").path

        init(_ files: [String]) throws {
            for file in files {
                let url = URL(filePath: "\(path)/\(file)")
                try FileManager.default.createDirectory(
                    at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data("x".utf8).write(to: url)
            }
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }
    }

    private func values(
        _ inputs: String, _ given: [(String, String)], document: JSONObject = [:], in place: Place
    ) throws -> JSONObject {
        let text = """
            { "pipeline": 1, "name": "demo", "inputs": { \(inputs) },
              "stages": [ { "id": "w", "kind": "wait", "for": "1s" } ] }
            """
        let catalogue = ExampleBench.workspace(environment: [:], state: "/nonexistent").catalogue
        let plan = try Planner(catalogue: catalogue).plan(SourceText(name: "p.json", text: text))
        return try InputValues(
            inputs: plan.definition.inputs, folders: (place.path, place.path), scope: Scope(), standardInput: { nil }
        ).values(from: GivenInputs(assignments: given.map { (name: $0.0, value: $0.1) }, document: document))
    }

    private let photos = #""photos": { "type": "files" }"#

    @Test("files are those that a pattern finds, those of a folder, single ones, and each of several, sorted, once")
    func files() throws {
        let place = try Place(["in/b.jpg", "in/a.jpg", "in/c.png", "in/.hidden.jpg", "in/sub/d.jpg", "odd[1].jpg", "1"])
        func names(_ given: [String], _ document: JSONObject = [:]) throws -> [String] {
            let found = try values(photos, given.map { ("photos", $0) }, document: document, in: place)["photos"]
            return (found?.array ?? []).compactMap { $0.string.map { String($0.dropFirst(place.path.utf8.count + 1)) } }
        }
        #expect(try names(["in/*.jpg"]) == ["in/a.jpg", "in/b.jpg"])
        #expect(try names(["in"]) == ["in/a.jpg", "in/b.jpg", "in/c.png"])
        #expect(try names(["in/c.png", "in/*.jpg", "in/a.jpg"]) == ["in/c.png", "in/a.jpg", "in/b.jpg"])
        #expect(try names(["in/**/*.jpg"]) == ["in/a.jpg", "in/b.jpg", "in/sub/d.jpg"])
        #expect(try names(["in/*.{png,jpg}"]) == ["in/a.jpg", "in/b.jpg", "in/c.png"])
        #expect(try names(["odd[1].jpg"]) == ["odd[1].jpg"])
        #expect(try names([#"["in/b.jpg", "in/*.png"]"#, "in/a.jpg"]) == ["in/b.jpg", "in/c.png", "in/a.jpg"])
        #expect(try names(["[1]"]) == ["1"], "a list of anything but texts is a pattern")
        #expect(try names(["@in/c.png"]) == ["in/c.png"])
        #expect(try names(["\(place.path)/in/?.png"]) == ["in/c.png"])
        #expect(try names([], ["photos": ["in/b.jpg", "in/*.png"]]) == ["in/b.jpg", "in/c.png"])
        #expect(try names([], ["photos": "in"]) == ["in/a.jpg", "in/b.jpg", "in/c.png"])
    }

    @Test("a default of files is relative to the document", arguments: [#""in/*.jpg""#, #"["in/a.jpg"]"#])
    func fallback(text: String) throws {
        let place = try Place(["in/a.jpg"])
        let found = try values(#""photos": { "type": "files", "default": \#(text) }"#, [], in: place)
        #expect(found["photos"] == [.string("\(place.path)/in/a.jpg")])
    }

    @Test(
        "what is wrong is told, with what to write",
        arguments: [
            (#""photos": { "type": "files" }"#, [("photos", "no/*.jpg")], "no file matches no/*.jpg"),
            // A variable of a shell that is not set: it took all files of the working directory.
            (#""photos": { "type": "files" }"#, [("photos", "")], "is given no path"),
            (#""photos": { "type": "files" }"#, [("photos", "a{b.jpg")], "has a { without its }"),
            (#""photos": { "type": "files" }"#, [("photos", "none.jpg")], "cannot read"),
            (#""photos": { "type": "files" }"#, [("photos", "empty")], "there is no file in"),
            (#""doc": { "type": "file" }"#, [("doc", "a"), ("doc", "b")], "the input 'doc' is given 2 times"),
            (#""doc": { "type": "string" }"#, [("doc", "a"), ("doc", "a")], "the input 'doc' is given 2 times"),
            (
                #""page": { "type": "url" }"#, [("page", "example.com")],
                "must be an http or https URL in a string, not 'example.com'"
            ),
            (#""page": { "type": "url" }"#, [("page", "http://h:1:2/")], "must be an http or https URL"),
        ])
    func mistakes(inputs: String, given: [(String, String)], message: String) throws {
        let place = try Place(["a", "b", "empty/.x"])
        let error = #expect(throws: InputsError.self) { try values(inputs, given, in: place) }
        #expect(error?.problems.count == 1)
        #expect(error?.problems.first?.title.contains(message) == true)
        #expect(error?.problems.first?.hint != nil)
    }

    @Test("a URL is a value like a text")
    func url() throws {
        let place = try Place([])
        let found = try values(#""page": { "type": "url" }"#, [("page", "https://h/x?a=b")], in: place)
        #expect(found["page"] == "https://h/x?a=b")
    }
}
