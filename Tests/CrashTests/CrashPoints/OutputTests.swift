import JSONPath
import PipelineTestKit
import SelfieStudio
import Testing

@Suite("What the program prints is a contract")
struct OutputTests {
    @Test("on success standard output has the paths of the files and nothing else")
    func paths() async throws {
        try await withWorkplace { workplace in
            try await withService(in: workplace) { service in
                let end = try await workplace.runSelfie(service)
                #expect(end.output == workplace.output + "/selfie.obj\n")
                let again = try await workplace.run("resume", "last", environment: service.environment)
                #expect(again.cause == .exited(0))
                #expect(again.output == end.output)
            }
        }
    }

    @Test("with --json each line is an event with its members, the journaled ones numbered without gaps")
    func events() async throws {
        try await withWorkplace { workplace in
            try await withService(in: workplace, { $0.minimumSeconds = 0.3 }) { service in
                let program = try workplace.startSelfie(service, ["--json"])
                let end = await program.end
                #expect(end.cause == .exited(0), "\(end)")
                let events = try end.lines.map { try JSON.parse(Array($0.utf8)) }
                var numbers: [Int] = []
                for event in events {
                    let members: [JSON?] = [event["time"], event["type"], event["job"], event["pipeline"]]
                    #expect(members.allSatisfy { $0?.string != nil }, "\(event)")
                    #expect(event["data"]?.object != nil)
                    #expect(event["pipeline"] == "selfie")
                    let type = event["type"]?.string ?? ""
                    // An estimate without a stage is the whole job's.
                    let isOfJob = type.hasPrefix("job.") || type == "estimate.changed"
                    #expect(isOfJob || event["stage"]?.string != nil)
                    let isNumbered = !["transfer.progress", "estimate.changed"].contains(type)
                    #expect((event["seq"] != nil) == isNumbered, "\(event)")
                    if let number = event["seq"]?.number?.int { numbers.append(number) }
                }
                #expect(numbers == Array(1...numbers.count))
                #expect(events.first?["type"] == "job.started")
                #expect(events.last?["type"] == "job.succeeded")
                // What was seen as it came is what the journal tells afterwards.
                let journaled = try await workplace.events()
                #expect(journaled == events.filter { $0["seq"] != nil })
            }
        }
    }

    @Test("show --failed tells of what failed alone, in JSON too")
    func onlyFailed() async throws {
        let server = try LoopbackServer { $0.path == "/2" ? .status(404) : .json("{}") }
        defer { server.stop() }
        try await withWorkplace { workplace in
            try workplace.write(
                "ask.json",
                """
                { "pipeline": 1, "name": "ask", "stages": [
                  { "id": "get", "kind": "request", "forEach": "[1, 2, 3]", "tolerate": 1,
                    "request": { "GET": "\(server.url)/${{ item }}" } } ] }
                """)
            #expect(try await workplace.run("run", "ask.json").cause == .exited(0))
            func stages(_ end: ProgramEnd) throws -> [JSON] {
                try #require(try JSON.parse(end.output).object?["stages"]?.array)
            }
            #expect(try stages(try await workplace.run("show", "last", "--json")).count == 4)
            let failed = try stages(try await workplace.run("show", "last", "--json", "--failed"))
            #expect(failed.count == 1 && failed.first?.object?["item"]?.number?.literal == "1", "\(failed)")
        }
    }

    @Test("show --json has the contract's members")
    func show() async throws {
        try await withWorkplace { workplace in
            try await withService(in: workplace) { service in
                let end = try await workplace.runSelfie(service)
                #expect(end.cause == .exited(0), "\(end)")
                let job = try await workplace.show()
                let names = [
                    "job", "pipeline", "key", "state", "cause", "started", "ended", "stages", "estimate", "error",
                    "tolerated", "files", "cost",
                ]
                #expect(Set(job.object?.names ?? []) == Set(names))
                let stages = try #require(job["stages"]?.array)
                #expect(stages.compactMap { $0["id"]?.string } == ["upload", "model", "download"])
                let members = [
                    "id", "kind", "item", "state", "attempts", "resumes", "bytesSent", "bytesReceived", "captures",
                    "error",
                ]
                for stage in stages { #expect(Set(stage.object?.names ?? []) == Set(members)) }
                #expect(stages[0]["bytesSent"]?.number?.int == Documents.videoSize)
                let mesh = try await UninterruptedRun.mesh
                #expect(stages[2]["bytesReceived"]?.number?.int == mesh.count)
                let file = try #require(job["files"]?.array?.first)
                #expect(file["path"]?.string == workplace.output + "/selfie.obj")
                #expect(file["bytes"]?.number?.int == mesh.count)
                #expect(file["sha256"]?.string?.count == 64)
            }
        }
    }
}
