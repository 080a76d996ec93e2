import Foundation
import JSONPath
import PipelineTestKit
import SelfieStudio
import Testing

/// A studio with a proxy before it, by which faults come between it and the program.
struct Service: Sendable {
    let studio: StudioServer
    let proxy: FaultProxy
    let dataFolder: String

    /// What the program needs to reach it.
    var environment: [String: String] { ["SELFIE_URL": proxy.url] }

    var counters: Counters { studio.counters }

    /// Returns once the studio has counted so much, or the program that is to bring it there has ended.
    func counts(unless program: RunningProgram? = nil, _ isSo: @escaping @Sendable (Counters) -> Bool) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [changes = studio.changes] in
                for await counters in changes where isSo(counters) { return }
            }
            if let program { group.addTask { _ = await program.end } }
            await group.next()
            group.cancelAll()
        }
    }

    /// The models that were submitted, as the studio keeps them, in the order of submission.
    var models: [JSON] {
        let folder = dataFolder + "/models"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let records = names.filter { $0.hasSuffix(".json") }.compactMap { name -> JSON? in
            FileManager.default.contents(atPath: "\(folder)/\(name)").flatMap { try? JSON.parse(Array($0)) }
        }
        return records.sorted { ($0["number"]?.number?.int ?? 0) < ($1["number"]?.number?.int ?? 0) }
    }

    /// The content of the uploaded videos.
    var videos: [[UInt8]] {
        let folder = dataFolder + "/videos"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasSuffix(".y4m") }.sorted().compactMap { name in
            FileManager.default.contents(atPath: "\(folder)/\(name)").map { Array($0) }
        }
    }
}

/// Serves while the body runs; `change` sets how the studio behaves.
func withService<Result: Sendable>(
    in workplace: Workplace, _ change: (inout StudioSettings) -> Void = { _ in },
    _ body: (Service) async throws -> Result
) async throws -> Result {
    let proxy = try FaultProxy()
    defer { proxy.stop() }
    var settings = StudioSettings(dataFolder: workplace.path("studio"))
    settings.origin = proxy.url
    change(&settings)
    return try await StudioServer.run(settings) { server in
        proxy.forward(to: UInt16(server.port))
        return try await body(Service(studio: server, proxy: proxy, dataFolder: workplace.path("studio")))
    }
}
