import ArgumentParser
import CLibrary

/// The cost of large bodies for the built program: a file in base64 against the file as it is, and a long stream of
/// events.
struct BodiesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bodies",
        abstract: "Send a file plain and by fileBase64, read a stream of events; print CPU, ratio and peak memory.")

    @Option(help: "The program.") var program: String
    @Option(help: "What 'serve' printed.") var url: String
    @Option(help: "A folder for documents, the file and the state.") var folder: String
    @Option(help: "The size of the file in MiB.") var size = 1024
    @Option(help: "Events of the stream, 4 KiB each.") var events = 10_000
    @Option(help: "Runs, of which the cheapest counts.") var runs = 3

    func run() async throws {
        mkdir(folder, 0o700)
        let file = "\(folder)/file"
        let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0, ftruncate(descriptor, off_t(size) << 20) == 0 else { throw ExitCode.failure }
        close(descriptor)
        defer { unlink(file) }
        let plain = try measure("plain", #""request": { "POST": "/x", "file": "\#(file)" }"#, kind: "request")
        let coded = try measure(
            "base64", #""request": { "POST": "/x", "json": { "file": "${{ fileBase64('\#(file)') }}" } }"#,
            kind: "request")
        print(
            "a file of \(size) MiB by fileBase64: \(text(coded.cpu / plain.cpu, 2)) times the CPU of sending it plain "
                + "(\(text(coded.cpu, 2)) s against \(text(plain.cpu, 2)) s), peak \(text(coded.memory, 1)) MiB "
                + "(\(text(plain.memory, 1)) MiB)")
        let stream = try measure(
            "stream",
            #"""
            "poll": { "GET": "/events/\#(events)", "capture": { "n": "$.n" },
                      "events": { "succeeded": ["done"], "failed": ["error"], "progress": ["step"] }, "progress": "$.n" }
            """#, kind: "compute")
        print(
            "a stream of \(events) events of 4 KiB: \(text(stream.cpu, 2)) s of CPU, peak \(text(stream.memory, 1)) MiB"
        )
    }

    private func measure(_ name: String, _ keys: String, kind: String) throws -> Measured {
        let document = "\(folder)/\(name).json"
        let content = """
            { "pipeline": 1, "name": "\(name)", "services": { "s": { "url": "\(url)" } },
              "stages": [ { "id": "a", "kind": "\(kind)", "service": "s", \(keys) } ] }
            """
        guard let stream = fopen(document, "w") else { throw ExitCode.failure }
        fputs(content, stream)
        fclose(stream)
        var best: Measured?
        for _ in 0..<max(1, runs) {
            let measured = Measured.run("\(program) run \(document) --state-dir \(folder)/state --output \(folder)")
            guard measured.status == 0 else { throw ExitCode.failure }
            if measured.cpu < best?.cpu ?? .infinity { best = measured }
        }
        guard let best else { throw ExitCode.failure }
        return best
    }
}
