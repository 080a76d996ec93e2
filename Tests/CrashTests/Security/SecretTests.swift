import Foundation
import JSONPath
import PipelineTestKit
import SelfieStudio
import Testing

@Suite("A secret is in no file and in no output")
struct SecretTests {
    /// With characters that the encodings change.
    static let secret = "s3cr3t/Value+with=odd?chars&more~ÿ"

    @Test("not while a job runs, after a kill, and not when it has ended")
    func wholeJob() async throws {
        try await withWorkplace { workplace in
            try await withService(in: workplace, { $0.token = Self.secret }) { service in
                let environment = ["PIPELINE_SECRET_SELFIE_TOKEN": Self.secret]
                var ends: [ProgramEnd] = []
                for point in ["upload.sent", "submit.sent"] {
                    ends.append(
                        try await workplace.runSelfie(
                            service, environment: environment.merging(["PIPELINE_CRASH_AT": point]) { $1 }))
                    #expect(ends.last?.cause == .killed(9))
                    try expectNoSecret(in: workplace, ends)
                }
                ends.append(
                    try await workplace.run("resume", environment: service.environment.merging(environment) { $1 }))
                #expect(ends.last?.cause == .exited(0), "\(ends)")
                for arguments in [["show", "last"], ["show", "last", "--json"], ["logs", "last", "--json"]] {
                    ends.append(try await workplace.program.run(arguments, environment: workplace.environment()))
                }
                try expectNoSecret(in: workplace, ends)
            }
        }
    }

    @Test("not when a server sends it back in an error, plain or encoded")
    func echoed() async throws {
        let forms = Self.forms.joined(separator: " ")
        let server = try LoopbackServer { request in
            .status(400, body: "you sent \(request.header("Authorization") ?? "") that is \(forms)")
        }
        defer { server.stop() }
        try await withWorkplace { workplace in
            try workplace.write(
                "put.json",
                Documents.put.replacingOccurrences(
                    of: #"env.SERVER_URL }}" }"#,
                    with: #"env.SERVER_URL }}", "with": [ { "bearer": "${{ secrets.TOKEN }}" } ] }"#))
            try workplace.write("x", "x")
            try workplace.write("secrets", "TOKEN=\(Self.secret)\n")
            var ends: [ProgramEnd] = []
            for arguments in [
                ["run", "put.json", "-i", "file=x", "--secrets-file", "secrets"],
                ["run", "put.json", "-i", "file=x", "--secrets-file", "secrets", "--json"],
                ["show", "last", "--json"], ["logs", "last"], ["logs", "last", "--json"],
            ] {
                ends.append(
                    try await workplace.program.run(
                        arguments, environment: workplace.environment(["SERVER_URL": server.url]),
                        folder: workplace.folder))
            }
            #expect(ends[0].cause == .exited(1), "\(ends[0])")
            #expect(ends[0].errors.contains("you sent"), "the answer is shown: \(ends[0])")
            #expect(server.requests.first?.header("Authorization") == "Bearer \(Self.secret)")
            try expectNoSecret(in: workplace, ends)
        }
    }

    /// Two stages that use parts of a secret: as elements of a `forEach`, which the service sends back, and in a body.
    private static let partsDocument = #"""
        { "pipeline": 1, "name": "parts",
          "services": { "api": { "url": "${{ env.SERVER_URL }}" } },
          "stages": [
            { "id": "login", "kind": "request", "service": "api", "forEach": "parse(secrets.ACCOUNTS)",
              "request": { "POST": "/echo", "json": { "user": "${{ item.u }}", "password": "${{ item.p }}" } },
              "capture": { "said": "$.password" } },
            { "id": "use", "kind": "request", "service": "api", "forEach": { "stage": "login" },
              "request": { "POST": "/use", "text": "${{ stages.login.said }}" } },
            { "id": "one", "kind": "request", "service": "api",
              "request": { "POST": "/one", "json": { "password": "${{ parse(secrets.OTHER)[0].p }}" } } } ] }
        """#

    @Test("nor are parts that expressions make of it, as elements and in bodies")
    func parts() async throws {
        let server = try LoopbackServer { request in request.path == "/echo" ? .json(request.text) : .json("{}") }
        defer { server.stop() }
        try await withWorkplace { workplace in
            let document = try workplace.write("parts.json", Self.partsDocument)
            let secrets = [
                "SERVER_URL": server.url,
                "PIPELINE_SECRET_ACCOUNTS": #"[{"u":"ann","p":"pw-first-1"},{"u":"bob","p":"pw-second-2"}]"#,
                "PIPELINE_SECRET_OTHER": #"[{"u":"cyd","p":"pw-third-3"}]"#,
            ]
            var ends = [try await workplace.run("run", document, "-vv", environment: secrets)]
            #expect(ends[0].cause == .exited(0), "\(ends[0])")
            let bodies = Set(server.requests.map(\.text))
            for body in ["pw-first-1", "pw-second-2", #"{"password":"pw-third-3"}"#] {
                #expect(bodies.contains(body), "\(bodies)")
            }
            for arguments in [
                ["show", "last", "--all"], ["show", "last", "--json"], ["logs", "last", "--json"],
                ["logs", "last", "--curl"],
            ] {
                ends.append(try await workplace.program.run(arguments, environment: workplace.environment()))
            }
            #expect(ends.last?.output.contains(#""password":"‹secret:OTHER›""#) == true, "\(ends)")
            try expectNoSecret(in: workplace, ends, of: ["pw-first-1", "pw-second-2", "pw-third-3"])
        }
    }

    @Test("a secret that is missing stops the job before anything is sent")
    func missing() async throws {
        try await withWorkplace { workplace in
            try await withService(in: workplace) { service in
                let document = try Documents.selfie(replacing: [
                    ("secrets.SELFIE_TOKEN ?? 'demo'", "secrets.SELFIE_TOKEN")
                ])
                let end = try await workplace.runSelfie(service, document: document)
                #expect(end.cause == .exited(2), "\(end)")
                #expect(end.errors.contains("the secret SELFIE_TOKEN is not set"), "\(end)")
                #expect(service.counters.requests == 0)
            }
        }
    }

    @Test("a secret that is gone at resume leaves the job suspended with that cause")
    func gone() async throws {
        try await withWorkplace { workplace in
            try await withService(in: workplace, { $0.token = "t0ken" }) { service in
                let document = try Documents.selfie(replacing: [
                    ("secrets.SELFIE_TOKEN ?? 'demo'", "secrets.SELFIE_TOKEN")
                ])
                let secret = ["PIPELINE_SECRET_SELFIE_TOKEN": "t0ken"]
                let killed = try await workplace.runSelfie(
                    service, document: document,
                    environment: secret.merging(["PIPELINE_CRASH_AT": "submit.sent"]) { $1 })
                #expect(killed.cause == .killed(9), "\(killed)")
                let without = try await workplace.run("resume", environment: service.environment)
                #expect(without.cause == .exited(75), "\(without)")
                #expect(try await workplace.show()["cause"] == "secret")
                let end = try await workplace.run("resume", environment: service.environment.merging(secret) { $1 })
                try await workplace.checkMesh(end)
                #expect(service.counters.modelsSubmitted == 1)
            }
        }
    }

    /// The secret and its encodings.
    private static var forms: [String] {
        let bytes = Data(secret.utf8)
        let base64 = bytes.base64EncodedString()
        let unreserved = CharacterSet(
            charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
        let escaped = secret.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
        return [secret, base64, escaped]
    }

    private func expectNoSecret(
        in workplace: Workplace, _ ends: [ProgramEnd], of forms: [String] = SecretTests.forms,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let names = workplace.files(below: workplace.state)
        #expect(names.contains("journal.sqlite"), sourceLocation: sourceLocation)
        for form in forms {
            let bytes = Data(form.utf8)
            for name in names {
                // Sockets can't be read.
                let content = FileManager.default.contents(atPath: workplace.state + "/" + name) ?? Data()
                #expect(content.range(of: bytes) == nil, "\(form) in \(name)", sourceLocation: sourceLocation)
            }
            for end in ends {
                let isShown = (end.output + end.errors).contains(form)
                #expect(!isShown, "\(form) in an output: \(end)", sourceLocation: sourceLocation)
            }
        }
    }
}
