import Foundation
import PipelineHTTP
import PipelineSQLite
import Synchronization
import PipelineTestKit
import Testing

@testable import PipelineJournal

@Suite("The response cache in SQLite")
struct ResponseCacheTests {
    /// A state folder, and the time by which responses are used.
    private final class World: Sendable {
        let folder: TemporaryFolder
        let time = Mutex(Duration.seconds(1_800_000_000))
        init() throws { folder = TemporaryFolder() }
        deinit { folder.remove() }

        var file: String { folder.path + "/cache-\(CacheFiles.version).sqlite" }
        var size: Int { (try? FileManager.default.attributesOfItem(atPath: file)[.size] as? Int) ?? 0 }

        func open(limit: Int64 = 1 << 20) -> SQLiteResponseCache {
            SQLiteResponseCache(stateFolder: folder.path, limit: limit) { self.time.withLock { $0 } }
        }

        func pass(_ seconds: Int) { time.withLock { $0 += .seconds(seconds) } }
    }

    private static func response(_ number: Int, count: Int = 4096) -> CachedResponse {
        CachedResponse(
            status: 200 + number, fields: [.init(name: "ETag", value: "\"ä\(number)\""), .init(name: "A", value: "")],
            url: "https://api.test/\(number)", body: Array(repeating: UInt8(truncatingIfNeeded: number), count: count),
            time: 1_800_000_000.25, variant: .init(names: ["accept", "x"], digest: "d\(number)"))
    }

    @Test("gives what was stored last, to this process and to others, readable by this user alone")
    func storesAndReads() async throws {
        let world = try World()
        let cache = world.open()
        await cache.store(Self.response(1), for: "a")
        await cache.store(Self.response(2, count: 0), for: "b")
        await cache.store(Self.response(3), for: "a")
        for reader in [cache, world.open()] {
            #expect(await reader.response(for: "a") == Self.response(3))
            #expect(await reader.response(for: "b") == Self.response(2, count: 0))
            #expect(await reader.response(for: "c") == nil)
        }
        for suffix in ["", "-wal", "-shm"] { #expect(SQLiteWorld.mode(world.file + suffix) == 0o600) }
    }

    @Test("holds no more bytes than its limit; what was used longest ago goes first")
    func evicts() async throws {
        let world = try World()
        let cache = world.open(limit: 400_000)
        for number in 0..<300 {
            world.pass(60)
            await cache.store(Self.response(number), for: "\(number)")
            // Used all the time.
            #expect(await cache.response(for: "0") != nil, "after \(number)")
        }
        #expect(await cache.response(for: "299") != nil)
        #expect(await cache.response(for: "1") == nil)
        let stored = await (0..<300).asyncCount { await cache.response(for: "\($0)") != nil }
        #expect((40...95).contains(stored))
        #expect(world.size <= 420_000)
    }

    @Test("stores nothing that would push out an eighth of the others")
    func large() async throws {
        let world = try World()
        let cache = world.open(limit: 80_000)
        await cache.store(Self.response(1, count: 10_001), for: "a")
        await cache.store(Self.response(1, count: 10_000), for: "b")
        #expect(await cache.response(for: "a") == nil)
        #expect(await cache.response(for: "b") != nil)
    }

    @Test("begins anew when its file is damaged", arguments: ["no database", "another table"])
    func damaged(how: String) async throws {
        let world = try World()
        await world.open().store(Self.response(1), for: "a")
        for suffix in ["", "-wal", "-shm"] { unlink(world.file + suffix) }
        if how == "no database" {
            try Data(repeating: 0x55, count: 10_000).write(to: URL(filePath: world.file))
        } else {
            try SQLiteConnection(world.file, makesFile: true, busyTimeout: .zero)
                .execute("CREATE TABLE responses (number INTEGER)")
        }
        let cache = world.open()
        #expect(await cache.response(for: "a") == nil)
        await cache.store(Self.response(2), for: "a")
        #expect(await cache.response(for: "a") == Self.response(2))
    }

    @Test("makes nothing where there is no state folder, and in one that others can read")
    func noFolder() async throws {
        let world = try World()
        let missing = world.folder.path + "/none"
        let cache = SQLiteResponseCache(stateFolder: missing)
        await cache.store(Self.response(1), for: "a")
        #expect(await cache.response(for: "a") == nil)
        #expect(!FileManager.default.fileExists(atPath: missing))
        chmod(world.folder.path, 0o755)
        await world.open().store(Self.response(1), for: "a")
        #expect(world.size == 0)
    }

    @Test("removes the folder of files that version 0.1.0 kept")
    func removesEarlier() async throws {
        let world = try World()
        let old = world.folder.path + "/cache"
        mkdir(old, 0o700)
        try Data("{}\n".utf8).write(to: URL(filePath: old + "/0123"))
        await world.open().store(Self.response(1), for: "a")
        #expect(!FileManager.default.fileExists(atPath: old))
    }

    @Test("is shared by many at once, none of whom sees half a response")
    func concurrent() async throws {
        let world = try World()
        await withTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                let cache = world.open()
                group.addTask {
                    for number in 0..<50 {
                        await cache.store(Self.response(writer * 50 + number), for: "key")
                        guard let found = await cache.response(for: "key") else { continue }
                        let number = found.status - 200
                        #expect(found == Self.response(number))
                    }
                }
            }
        }
        #expect(await world.open().response(for: "key") != nil)
    }
}

extension Range<Int> {
    fileprivate func asyncCount(_ isCounted: (Int) async -> Bool) async -> Int {
        var count = 0
        for number in self where await isCounted(number) { count += 1 }
        return count
    }
}
