import Foundation
import JSONPath
import PipelineCore
import PipelineKit
import PipelineTestKit
import Testing

@testable import PipelineCommands

/// What `init --try` reads out of a service's own responses; curl itself sends.
@Suite("From curl to a document, tried") struct CurlTrialTests {
    private static let isInstalled = FileManager.default.isExecutableFile(atPath: "/usr/bin/curl")

    private func document(_ commands: [String], environment: [String: String] = [:]) throws -> (JSON, String) {
        let program = CurlProgram(environment: ["PATH": "/usr/bin:/bin"].merging(environment) { $1 })
        let trial = try CurlTrial(commands, by: program)
        let text = try CurlDocument(commands, name: "made", trial: trial).text()
        let source = SourceText(name: "made.json", text: text)
        let settings = Settings(stateFolder: "/nonexistent", secretsFile: nil, environment: [:])
        do throws(DefinitionError) {
            _ = try Planner(catalogue: Workspace(settings: settings).catalogue).plan(source)
        } catch {
            Issue.record("\(error.report)\n\(text)")
        }
        return (try JSONNode.parse(source).json, text)
    }

    @Test(
        "the id of the first response is found by an earlier one in the poll's address, and the state with it",
        .enabled(if: isInstalled, "needs curl"))
    func earlierID() throws {
        let server = try LoopbackServer { request in
            request.method == "POST"
                ? .json(#"{"request_id":"r1","data":{"task":"task_Q81xx7"},"name":"mine"}"#, status: 201)
                : .json(#"{"data":{"task":"task_Q81xx7","progress":{"phase":"queued"}}}"#)
        }
        defer { server.stop() }
        let (json, text) = try document(
            [
                "curl \(server.url)/v1/tasks -H \"Authorization: Bearer $KEY\" -d '{\"a\":\"it''s\"}'",
                "curl \(server.url)/v1/tasks/task_ab12cd?full=1 -H \"Authorization: Bearer $KEY\"",
            ], environment: ["KEY": "hidden"])
        let job = json["stages"]?.array?.first
        #expect(job?["submit"]?["capture"] == ["id": "$.data.task"], "\(text)")
        #expect(job?["poll"]?["GET"] == "/v1/tasks/${{ self.id }}", "\(text)")
        #expect(job?["poll"]?["status"] == "$.data.progress.phase" && text.contains(#"it said "queued""#), "\(text)")
        #expect(!text.contains("hidden"))
        #expect(server.requests.map(\.method) == ["POST", "GET"])
        #expect(server.requests.allSatisfy { $0.header("Authorization") == "Bearer hidden" })
    }

    private static let places = [
        "link": "$.urls.get", "location": "header:Location", "operation": "header:Operation-Location",
    ]

    @Test(
        "where the job is asked for is found without a second command",
        .enabled(if: isInstalled, "needs curl"),
        arguments: ["link", "location", "operation", "path"])
    func address(way: String) throws {
        let server = try LoopbackServer { request in
            switch (request.method, request.target) {
            case ("POST", _):
                switch way {
                case "link": .json(#"{"id":"77","urls":{"cancel":"/cancel/77","get":"/jobs/77?x=1"}}"#, status: 202)
                case "location": .status(202, headers: [("Location", "/jobs/77?x=1")], body: "{}")
                case "operation":
                    .status(
                        202, headers: [("Location", "/result"), ("Operation-Location", "/jobs/77?x=1")], body: "{}")
                default: .json(#"{"id":77}"#)
                }
            case ("GET", "/jobs/77?x=1"), ("GET", "/jobs/77"): .json(#"{"status":"running"}"#)
            default: .status(404)
            }
        }
        defer { server.stop() }
        let (json, text) = try document(["curl -X POST \(server.url)/jobs -d '{}' -H 'X-A: b'"])
        let job = json["stages"]?.array?.first
        #expect(job?["kind"] == "compute" && job?["poll"]?["status"] == "$.status", "\(text)")
        switch way {
        case "path":
            #expect(job?["poll"]?["GET"] == "/jobs/${{ self.id }}", "\(text)")
            #expect(job?["submit"]?["capture"] == ["id": "$.id"], "\(text)")
        default:
            #expect(job?["poll"]?["GET"] == "${{ self.address }}", "\(text)")
            #expect(
                job?["submit"]?["capture"]
                    == ["address": .string(Self.places[way] ?? "")], "\(text)")
        }
        #expect(!server.requests.contains { $0.target.contains("cancel") })
        #expect(server.requests.allSatisfy { $0.header("X-A") == "b" })
    }

    @Test("of a text of two commands the first is sent, without its prompt", .enabled(if: isInstalled, "needs curl"))
    func lines() throws {
        let server = try LoopbackServer { request in
            .json(request.method == "POST" ? #"{"id":"task_Q81xx7"}"# : #"{"state":"queued"}"#)
        }
        defer { server.stop() }
        let (json, text) = try document(["$ curl \(server.url)/jobs -d a=1\n$ curl \(server.url)/jobs/task_ab12cd"])
        #expect(json["stages"]?.array?.first?["poll"]?["status"] == "$.state", "\(text)")
        #expect(server.requests.map(\.target) == ["/jobs", "/jobs/task_Q81xx7"])
    }

    @Test("a service that refuses leaves guesses, and says so in a comment", .enabled(if: isInstalled, "needs curl"))
    func refused() throws {
        let server = try LoopbackServer { _ in .json(#"{"error":"no such key"}"#, status: 401) }
        let url = server.url
        let (json, text) = try document(["curl \(url)/jobs -d '{}'", "curl \(url)/jobs/1"])
        #expect(json["stages"]?.array?.first?["submit"]?["capture"] == ["id": "$.id"], "\(text)")
        #expect(text.contains("answered 401") && text.contains("no such key") && text.contains("// guess"), "\(text)")
        #expect(server.requests.count == 1)
        server.stop()
        let mistake = #expect(throws: CurlMistake.self) { try document(["curl \(url)/jobs -d '{}'"]) }
        #expect(mistake?.message.hasPrefix("--try: curl: (7)") == true, "\(mistake?.message ?? "")")
    }
}
