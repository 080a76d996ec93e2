import Foundation
import JSONPath
import PipelineTestKit
import Testing

@Suite("What should never happen")
struct AssertionTests {
    private static let document = """
        {"pipeline": 1, "name": "two", "stages": [
            {"id": "first", "kind": "write", "to": "first.txt", "text": "1", "continueOnFailure": true, "needs": []},
            {"id": "second", "kind": "write", "to": "second.txt", "text": "2", "needs": []}]}
        """

    @Test("fails its step as a mistake of ours, the others go on, and doctor lists it once for its place")
    func stepFails() async throws {
        try await withWorkplace { workplace in
            try workplace.write("two.json", Self.document)
            let environment = ["PIPELINE_ASSERT_AT": "first", "PIPELINE_ASSERTIONS": "report"]
            let end = try await workplace.run(
                "run", "two.json", "--output", workplace.output, environment: environment)
            #expect(end.cause == .exited(0), "\(end)")
            #expect(workplace.bytes(workplace.output + "/second.txt") == Array("2".utf8))
            let shown = try await workplace.show()
            let first = try #require(shown["stages"]?.array?.first)
            #expect(first["state"] == "failed")
            #expect(first["error"]?["title"]?.string?.hasPrefix("a mistake of pipeline itself: ") == true)
            #expect(first["error"]?["service"] == .null)
            try await workplace.checkEvents()
            let again = try await workplace.run(
                "run", "two.json", "--output", workplace.output, "--overwrite", environment: environment)
            #expect(again.cause == .exited(0), "\(again)")
            let doctor = try await workplace.run("doctor")
            let lines = doctor.lines.filter { $0.hasPrefix("mistake") }
            #expect(
                lines.count == 1 && lines[0].contains(" 2 times") && lines[0].contains("stage 'first'"), "\(doctor)")
            #expect(doctor.errors.contains("--report"))
        }
    }

    @Test("fails the job where nothing tolerates it, and a retry does it after all")
    func retried() async throws {
        try await withWorkplace { workplace in
            try workplace.write("two.json", Self.document)
            let end = try await workplace.run(
                "run", "two.json", "--output", workplace.output,
                environment: ["PIPELINE_ASSERT_AT": "second:1", "PIPELINE_ASSERTIONS": "report"])
            #expect(end.cause == .exited(1), "\(end)")
            #expect(end.errors.contains("a mistake of pipeline itself"), "\(end)")
            let retried = try await workplace.run("retry", "last", "--overwrite")
            #expect(retried.cause == .exited(0), "\(retried)")
            #expect(workplace.bytes(workplace.output + "/second.txt") == Array("2".utf8))
        }
    }

    @Test("the report that can be sent holds no secret and no path of a person's")
    func report() async throws {
        try await withWorkplace { workplace in
            try workplace.write("two.json", Self.document)
            let environment = ["PIPELINE_ASSERT_AT": "first", "PIPELINE_ASSERTIONS": "report"]
            _ = try await workplace.run("run", "two.json", "--output", workplace.output, environment: environment)
            let folder = workplace.state + "/assertions"
            let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder).first)
            let text = try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
            // As if a message had said more than it should.
            let loud = text.replacing("finished cannot", with: "hunter2-hunter2 \(workplace.folder)/x finished cannot")
            try workplace.write("state/assertions/\(name)", loud)
            let end = try await workplace.run(
                "doctor", "--report", "report.json", environment: ["PIPELINE_SECRET_token": "hunter2-hunter2"])
            #expect(end.cause == .exited(0), "\(end)")
            let bytes = try #require(workplace.bytes(workplace.path("report.json")))
            let report = try JSON.parse(bytes)
            let entry = try #require(report["assertions"]?.array?.first)
            #expect(entry["count"]?.number?.int == 1 && entry["line"]?.number?.int != nil)
            #expect(entry["file"]?.string?.hasPrefix("PipelineEngine/") == true)
            #expect(entry["version"]?.string?.hasPrefix("pipeline ") == true)
            #expect(entry["message"]?.string?.contains("‹secret:token› ~/x finished") == true, "\(report.text)")
            #expect(!String(decoding: bytes, as: UTF8.self).contains(workplace.folder))
        }
    }

    #if DEBUG
        @Test("stops a debug build, once it is recorded")
        func stops() async throws {
            try await withWorkplace { workplace in
                try workplace.write("two.json", Self.document)
                let end = try await workplace.run(
                    "run", "two.json", "--output", workplace.output, environment: ["PIPELINE_ASSERT_AT": "first"])
                guard case .killed = end.cause else {
                    Issue.record("\(end)")
                    return
                }
                let doctor = try await workplace.run("doctor")
                #expect(doctor.output.contains("mistake   PipelineEngine/"), "\(doctor)")
            }
        }
    #endif
}
