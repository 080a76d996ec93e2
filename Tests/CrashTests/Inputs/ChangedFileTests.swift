import Foundation
import JSONPath
import PipelineTestKit
import Synchronization
import Testing

/// A file that was written anew after a request had told a service of it, by the built program.
@Suite("A file that was declared")
struct ChangedFileTests {
    private static let document = """
        { "pipeline": 1, "name": "declared",
          "inputs": { "audio": { "type": "file" } },
          "services": { "api": { "url": "${{ env.API_URL }}" } },
          "retry": { "delay": "20ms", "max": "100ms" },
          "stages": [
            { "id": "slot", "kind": "request", "service": "api",
              "request": { "POST": "/slots", "json": {
                "bytes": "${{ size(inputs.audio) }}", "sha256": "${{ digest(inputs.audio) }}" },
                "once": { "resend": true }, "capture": { "id": "$.id" } } },
            { "id": "send", "kind": "upload", "service": "api", "file": "${{ inputs.audio }}", "protocol": "put",
              "request": { "PUT": "/slots/${{ stages.slot.id }}" } } ] }
        """

    /// A service that hangs at the first file, and takes all that are sent once it is up.
    private struct Slots {
        private final class State: Sendable {
            let isUp = Mutex(false)
            let sent = Mutex<[[UInt8]]>([])
            let asked = Gate()
        }

        private let state: State
        let server: LoopbackServer

        var sent: [[UInt8]] { state.sent.withLock(\.self) }

        init() throws {
            let state = State()
            self.state = state
            server = try LoopbackServer { request in
                guard request.method == "PUT" else { return .json(#"{"id": "s1"}"#) }
                // Looked at before anybody hears of the request: the service comes up right after that.
                let isUp = state.isUp.withLock(\.self)
                state.asked.open()
                guard isUp else { return ScriptedAnswer([.stall]) }
                state.sent.withLock { $0.append(request.body) }
                return .json("{}")
            }
        }

        func wait() async { await state.asked.wait() }
        func comeUp() { state.isUp.withLock { $0 = true } }
    }

    /// Runs the document until the file is being sent, and kills the program; returns the environment to go on in.
    private func killed(_ file: String, in workplace: Workplace, _ slots: Slots) async throws -> [String: String] {
        let environment = ["API_URL": slots.server.url]
        let program = try workplace.start("run", file, "-i", "audio=a.wav", environment: environment)
        await slots.wait()
        program.signal(SIGKILL)
        _ = await program.end
        slots.comeUp()
        return environment
    }

    /// The second attempt sent the new bytes to the slot of the old ones.
    @Test("and has changed since is not sent, however often it is tried")
    func changed() async throws {
        try await withWorkplace { workplace in
            let slots = try Slots()
            defer { slots.server.stop() }
            let file = try workplace.write("declared.json", Self.document)
            try workplace.write("a.wav", "the first take")
            let environment = try await killed(file, in: workplace, slots)
            try workplace.write("a.wav", "another take, and a longer one")
            let first = try await workplace.run("resume", environment: environment)
            #expect(first.cause == .exited(1), "\(first)")
            #expect(first.errors.contains("the file changed while it was being uploaded"), "\(first)")
            for command in ["retry", "resume"] {
                let again = try await workplace.run(command, "last", environment: environment)
                #expect(again.cause == .exited(1), "\(again)")
                #expect(again.errors.contains("a.wav has changed since the job read it"), "\(again)")
            }
            #expect(slots.sent.isEmpty)
        }
    }

    /// A body and a form took whatever bytes stood there by then, under the digest of the old ones.
    @Test(
        "and has changed since is not sent as a body, or in a form",
        arguments: [
            #""file": "${{ inputs.audio }}""#,
            #""with": [ { "multipart": { "files": [ { "name": "a", "file": "${{ inputs.audio }}" } ] } } ]"#,
        ])
    func changedBody(body: String) async throws {
        try await withWorkplace { workplace in
            let slots = try Slots()
            defer { slots.server.stop() }
            let upload = #""upload", "service": "api", "file": "${{ inputs.audio }}", "protocol": "put","#
            let request = #""PUT": "/slots/${{ stages.slot.id }}""#
            let document = Self.document.replacingOccurrences(of: upload, with: #""request", "service": "api","#)
                .replacingOccurrences(of: request, with: "\(request), \(body)")
            let file = try workplace.write("declared.json", document)
            try workplace.write("a.wav", "the first take")
            let environment = try await killed(file, in: workplace, slots)
            try workplace.write("a.wav", "another take")
            for command in ["resume", "retry"] {
                let again = try await workplace.run(command, "last", environment: environment)
                #expect(again.cause == .exited(1), "\(again)")
                #expect(again.errors.contains("a.wav has changed since the job read it"), "\(again)")
            }
            #expect(slots.sent.isEmpty)
            try workplace.write("a.wav", "the first take")
            let mended = try await workplace.run("retry", "last", environment: environment)
            #expect(mended.cause == .exited(0), "\(mended)")
            #expect(slots.sent.count == 1)
        }
    }

    /// Where a text was told it was refused for ever, although not a byte of it had changed.
    @Test(
        "and was only touched is sent, whatever was told of it",
        arguments: [
            "text(inputs.audio)", "trim(fileBase64(inputs.audio))", "jsonLines(inputs.audio)[0]", "size(inputs.audio)",
        ])
    func touched(told: String) async throws {
        try await withWorkplace { workplace in
            let slots = try Slots()
            defer { slots.server.stop() }
            let document = Self.document.replacingOccurrences(of: "size(inputs.audio)", with: told)
            let file = try workplace.write("declared.json", document)
            try workplace.write("a.wav", "17")
            let environment = try await killed(file, in: workplace, slots)
            try workplace.write("a.wav", "17")
            // What was begun with the file as it was is given up first.
            _ = try await workplace.run("resume", environment: environment)
            let again = try await workplace.run("retry", "last", environment: environment)
            #expect(again.cause == .exited(0), "\(again)")
            #expect(slots.sent == [Array("17".utf8)])
        }
    }

    /// The upload of before went on as if it were of the mended file, and nothing said so.
    @Test("and was sent before it was mended is sent again by 'retry --from' alone, which a note names")
    func mendedAfterItWasSent() async throws {
        try await withWorkplace { workplace in
            let slots = try Slots()
            defer { slots.server.stop() }
            slots.comeUp()
            let document = Self.document.replacingOccurrences(of: "size(inputs.audio)", with: "1")
                .replacingOccurrences(of: #", "sha256": "${{ digest(inputs.audio) }}""#, with: "")
                .replacingOccurrences(
                    of: "} ] }",
                    with: #"""
                        }, { "id": "last", "kind": "request", "service": "api", "needs": ["send"],
                             "request": { "GET": "/last", "capture": { "no": "$.no" } } } ] }
                        """#)
            let file = try workplace.write("declared.json", document)
            try workplace.write("a.wav", "the first take")
            let environment = ["API_URL": slots.server.url]
            let first = try await workplace.run("run", file, "-i", "audio=a.wav", environment: environment)
            #expect(first.cause == .exited(1), "\(first)")
            let asItWas = try await workplace.run("retry", "last", environment: environment)
            #expect(!asItWas.errors.contains("has changed since"), "\(asItWas)")
            try workplace.write("a.wav", "another take")
            let retried = try await workplace.run("retry", "last", environment: environment)
            #expect(retried.errors.contains("a.wav has changed since stage 'send' sent it"), "\(retried)")
            #expect(slots.sent == [Array("the first take".utf8)])
            let anew = try await workplace.run("retry", "last", "--from", "send", environment: environment)
            #expect(!anew.errors.contains("has changed since"), "\(anew)")
            #expect(slots.sent == [Array("the first take".utf8), Array("another take".utf8)])
        }
    }

    /// What the note advises sends all that has succeeded again; the retry alone sends this one.
    @Test("and was refused, of several that were sent, is sent by 'retry' as it is by then, without a note")
    func mendedAfterItWasRefused() async throws {
        try await withWorkplace { workplace in
            let service = try LoopbackServer { request in
                request.text.contains("broken") ? .status(422, body: "no take") : .json("{}")
            }
            defer { service.stop() }
            let file = try workplace.write(
                "several.json",
                """
                { "pipeline": 1, "name": "several", "services": { "api": { "url": "${{ env.API_URL }}" } },
                  "stages": [ { "id": "send", "kind": "upload", "service": "api", "forEach": "split('a.wav,b.wav', ',')",
                    "file": "${{ item }}", "protocol": "put", "request": { "PUT": "/${{ item }}" } } ] }
                """)
            try workplace.write("a.wav", "a take")
            try workplace.write("b.wav", "a broken take")
            let environment = ["API_URL": service.url]
            let first = try await workplace.run("run", file, environment: environment)
            #expect(first.cause == .exited(1), "\(first)")
            try workplace.write("b.wav", "a mended take")
            let why = try await workplace.run("why", "last", environment: environment)
            #expect(!why.output.contains("has changed since"), "\(why)")
            let mended = try await workplace.run("retry", "last", environment: environment)
            #expect(mended.cause == .exited(0) && !mended.errors.contains("has changed since"), "\(mended)")
            #expect(service.requests.map(\.text).filter { $0 == "a take" }.count == 1)
            #expect(service.requests.last?.text == "a mended take")
        }
    }

    @Test("and was sent for items of a batch is noted of each when it is retried")
    func mendedOfBatch() async throws {
        try await withWorkplace { workplace in
            let service = try LoopbackServer { request in
                request.method == "PUT" ? .json("{}") : .status(422, body: "no take")
            }
            defer { service.stop() }
            let file = try workplace.write(
                "each.json",
                """
                { "pipeline": 1, "name": "each", "inputs": { "audio": { "type": "file" } },
                  "services": { "api": { "url": "${{ env.API_URL }}" } },
                  "stages": [
                    { "id": "send", "kind": "upload", "service": "api", "file": "${{ inputs.audio }}", "protocol": "put",
                      "request": { "PUT": "/${{ basename(inputs.audio) }}" } },
                    { "id": "work", "kind": "request", "service": "api", "needs": ["send"],
                      "request": { "GET": "/work" } } ] }
                """)
            for name in ["a.wav", "b.wav"] { try workplace.write(name, "a take") }
            let environment = ["API_URL": service.url]
            let first = try await workplace.run(
                "run", file, "--each", "audio=*.wav", "--batch", "takes", environment: environment)
            #expect(first.cause == .exited(1), "\(first)")
            try workplace.write("b.wav", "another take")
            let retried = try await workplace.run("retry", "takes", environment: environment)
            #expect(retried.errors.split(separator: "\n").filter { $0.contains("has changed since") }.count == 1)
            #expect(
                retried.errors.contains(/note: b(\.wav)?: \S+b\.wav has changed since stage 'send' sent it/),
                "\(retried)")
        }
    }
}
