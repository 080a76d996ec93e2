import ArgumentParser
import CLibrary
import JSONPath
import PipelineCore

/// Follows a list of many items, page by page, into a file of JSON Lines: memory must not grow with the list.
struct PagesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pages", abstract: "Fetch a list of many items as JSON Lines; print CPU and peak memory.")

    @Option(help: "Items in all.") var items = 1_000_000
    @Option(help: "Items in a page.") var size = 1000
    @Option(help: "The service's URL, see serve.") var url: String
    @Option(help: "An empty folder for state and results.") var folder: String

    func run() async throws {
        let stage = """
            { "id": "list", "kind": "request", "service": "s", "request": { "GET": "/items/\(items)" },
              "to": "items.jsonl",
              "paginate": { "items": "$.data[*]", "next": { "offset": "offset",
                            "size": { "param": "limit", "value": \(size) } } } }
            """
        let bench = try JobBench(folder: folder, url: url, stages: stage)
        let before = Measured.ofThisProcess
        try await bench.run(count: 1, concurrency: 1)
        let after = Measured.ofThisProcess
        let lines = Self.lines(of: "\(folder)/out/items.jsonl")
        guard lines == items else { throw BenchFailure(end: "\(lines) of \(items) lines") }
        print(
            "\(items) items in pages of \(size): \(text(after.wall - before.wall, 1)) s, "
                + "\(text(after.cpu - before.cpu, 1)) s of CPU, peak \(text(after.memory, 1)) MiB, "
                + "\(text(after.memory - before.memory, 1)) MiB more than before")
    }

    private static func lines(of path: String) -> Int {
        guard let file = fopen(path, "r") else { return 0 }
        defer { fclose(file) }
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        var lines = 0
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 {
            lines += buffer[..<count].reduce(0) { $1 == UInt8(ascii: "\n") ? $0 + 1 : $0 }
        }
        return lines
    }
}
