import ArgumentParser
import Foundation
import PipelineHTTP
import PipelineJournal
import PipelineKit

/// Measures the response cache against a folder with a file for each response.
struct CacheCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cache", abstract: "Store and read responses in the cache and in a folder of files.")

    @Option(help: "Responses.") var responses = 10_000
    @Option(help: "Bytes of each.") var size = 4096
    @Option(help: "A new folder on a disk.") var folder: String

    func run() async throws {
        mkdir(folder, 0o700)
        try await measure("a folder of files") { FolderResponseCache(folder: "\(folder)/files") }
        try await measure("the cache") { SQLiteResponseCache(stateFolder: folder) }
    }

    /// Each step with a cache of its own, as another process has it.
    private func measure(_ name: String, _ make: () -> any ResponseCache) async throws {
        let keys = (0..<responses).map { number in
            String(repeating: "0", count: 48) + String(format: "%016x", UInt64(number) &* 0x9E37_79B9_7F4A_7C15)
        }
        let body = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
        let response = CachedResponse(
            status: 200,
            fields: [.init(name: "ETag", value: "\"v1\""), .init(name: "Cache-Control", value: "no-cache")],
            url: "https://api.test/things", body: body, time: 1_800_000_000, variant: .init(names: [], digest: ""))
        let clock = ContinuousClock()
        let first = make()
        let storing = await clock.measure { for key in keys { await first.store(response, for: key) } }
        forgetPages()
        let second = make()
        let cold = try await clock.measure { try await read(keys, of: second) }
        let warm = try await clock.measure { try await read(keys, of: second) }
        print(
            "\(name): \(each(storing)) us to store a response, \(each(cold)) us to read it from the disk, "
                + "\(each(warm)) us from memory")
    }

    private func read(_ keys: [String], of cache: any ResponseCache) async throws {
        for key in keys {
            guard await cache.response(for: key)?.body.count == size else {
                throw BenchFailure(end: "a response is lost")
            }
        }
    }

    private func each(_ time: Duration) -> String {
        String(format: "%.1f", time / .microseconds(1) / Double(responses))
    }

    /// Writes the files to the disk and lets the system forget their pages (posix_fadvise(2)).
    private func forgetPages() {
        sync()
        for path in FileManager.default.subpaths(atPath: folder) ?? [] {
            let descriptor = open("\(folder)/\(path)", O_RDONLY)
            posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
            close(descriptor)
        }
    }
}
