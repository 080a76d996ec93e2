import ArgumentParser
import Foundation
import Testing

@testable import SelfieStudio

@Suite("The command", .timeLimit(.minutes(2)))
struct CommandTests {
    @Test("Flags become settings")
    func settings() throws {
        let command = try StudioCommand.parse([
            "--port", "0", "--data", "/d", "--token", "t", "--seconds", "1.5", "--rate", "2MB", "--fail-percent", "5",
            "--cut-after", "1KiB", "--cut-every-time", "--fail-models", "--lose-answers", "3", "--submit-seconds", "2",
        ])
        let settings = command.settings
        #expect(settings.port == 0)
        #expect(settings.dataFolder == "/d")
        #expect(settings.token == "t")
        #expect(settings.minimumSeconds == 1.5)
        #expect(settings.rate == 2_000_000)
        #expect(settings.failPercent == 5)
        #expect(settings.cutAfter == 1024)
        #expect(settings.cutsEveryTime)
        #expect(settings.failsModels)
        #expect(settings.lostAnswers == 3)
        #expect(settings.submitSeconds == 2)
    }

    @Test(
        "Flags that make no sense are refused",
        arguments: [["--port", "70000"], ["--fail-percent", "101"], ["--rate", "x"]]
    )
    func refused(arguments: [String]) {
        #expect(throws: (any Error).self) { try StudioCommand.parse(arguments) }
    }

    @Test("The program says one line when it is ready, and ends with its standard input")
    func endsWithInput() async throws {
        try await withProgram(["--exit-with-stdin"]) { program in
            #expect(program.line.hasPrefix("selfie-studio listening on http://127.0.0.1:"))
            let port = try #require(program.line.split(separator: ":").last.flatMap { Int($0) })
            #expect(try await RawClient(port: port).send("GET", "/healthz").status == 200)
            try program.input.fileHandleForWriting.close()
        }
    }

    @Test("The program ends cleanly when it is told to")
    func endsWithSignal() async throws {
        try await withProgram([]) { $0.process.terminate() }
    }

    private struct Program {
        var process: Process
        var input: Pipe
        var line: String
    }

    /// Runs the built program; the body must make it end.
    private func withProgram(_ arguments: [String], _ body: (Program) async throws -> Void) async throws {
        try await withFolder { folder in
            let process = Process()
            let (input, output) = (Pipe(), Pipe())
            process.executableURL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
                .appending(path: "selfie-studio")
            process.arguments = ["--port", "0", "--data", folder] + arguments
            process.standardInput = input
            process.standardOutput = output
            let (ends, end) = AsyncStream.makeStream(of: CInt.self)
            process.terminationHandler = { end.yield($0.terminationReason == .exit ? $0.terminationStatus : -1) }
            try process.run()
            let text = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
            #expect(text.hasSuffix("\n"))
            try await body(Program(process: process, input: input, line: text.trimmingCharacters(in: .newlines)))
            #expect(await ends.first { _ in true } == 0)
        }
    }
}
