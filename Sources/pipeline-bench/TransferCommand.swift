import ArgumentParser
import CLibrary
import HTTPTypes
import NetworkTasks
import PipelineHTTP

/// Moves bytes over the transport alone: no job, no journal, no digest.
struct TransferCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "transfer",
        abstract: "Get a file, put one, or get or put many small ones, over the transport alone.")

    @Argument(help: "Where from, or where to; of many small files the folder.") var url: String
    @Option(help: "A file to write to; of many a folder.") var to: String?
    @Option(help: "A file to send.") var file: String?
    @Option(help: "How many: their names are the numbers from 0.") var count: Int?
    @Option(help: "How many at a time.") var concurrency = 64

    func run() async throws {
        let transport = CurlTransport()
        guard let count else { return try await move(transport, url, to) }
        let before = Measured.ofThisProcess
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<count {
                if index >= concurrency { try await group.next() }
                group.addTask { try await move(transport, "\(url)/\(index)", to.map { "\($0)/\(index)" }) }
            }
            try await group.waitForAll()
        }
        let after = Measured.ofThisProcess
        let cpu = (after.cpu - before.cpu) * 1000 / Double(count)
        print(
            "\(count) small files \(file == nil ? "received" : "sent"), \(concurrency) at a time: "
                + "\(text(cpu, 3)) ms of CPU each, peak \(text(after.memory, 1)) MiB")
    }

    private func move(_ transport: CurlTransport, _ url: String, _ path: String?) async throws {
        var request = RequestDescription(url: url)
        var options = ExchangeOptions()
        if let path { options.receive = .file(FileSink(path: path)) }
        if let file {
            var status = stat()
            guard stat(file, &status) == 0 else { throw ExitCode.failure }
            request.method = .put
            request.body = .file(path: file, offset: 0, length: Int64(status.st_size))
        }
        let answer = try await transport.start(request, options: options).value
        guard answer.isSuccess else { throw ExitCode.failure }
    }
}
