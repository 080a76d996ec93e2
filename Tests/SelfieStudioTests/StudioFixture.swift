import Foundation
import Testing

@testable import SelfieStudio

/// The selfie that the repository ships.
enum Selfie {
    static let path: String = {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return root.appending(path: "Fixtures/selfie.y4m").path(percentEncoded: false)
    }()

    static func bytes() throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: path)))
    }
}

/// A folder that is gone when the test is over.
func withFolder<Result>(_ body: (String) async throws -> Result) async throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appending(path: "selfie-studio-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await body(folder.path(percentEncoded: false))
}

extension StudioSettings {
    /// Settings with a change; `withStudio` sets the folder.
    static func with(_ change: (inout StudioSettings) -> Void) -> StudioSettings {
        var settings = StudioSettings(dataFolder: "")
        change(&settings)
        return settings
    }
}

/// A studio in this process, on a free port, with a folder of its own.
func withStudio<Result: Sendable>(
    _ settings: StudioSettings = .with { _ in },
    _ body: (StudioServer, RawClient) async throws -> Result
) async throws -> Result {
    try await withFolder { folder in try await withStudio(in: folder, settings, body) }
}

func withStudio<Result: Sendable>(
    in folder: String,
    _ settings: StudioSettings = .with { _ in },
    _ body: (StudioServer, RawClient) async throws -> Result
) async throws -> Result {
    var settings = settings
    settings.dataFolder = folder
    return try await StudioServer.run(settings) { try await body($0, RawClient(port: $0.port)) }
}

extension RawClient {
    func upload(_ bytes: [UInt8]) async throws -> Video {
        let reply = try await send(RawRequest(method: "POST", path: "/videos", body: bytes))
        #expect(reply.status == 201)
        return try reply.decode()
    }

    func submit(_ video: String, quality: String = "draft", key: String? = nil) async throws -> RawReply {
        try await send(Self.submission(video, quality: quality, key: key))
    }

    static func submission(_ video: String, quality: String = "draft", key: String? = nil) -> RawRequest {
        let body = Array("{\"video\":\"\(video)\",\"quality\":\"\(quality)\"}".utf8)
        let fields = key.map { [("Idempotency-Key", "\"\($0)\"")] } ?? []
        return RawRequest(method: "POST", path: "/models", fields: fields, body: body)
    }

    /// Asks until the model has one of the states; each answer is an event of the studio, so this needs no pause.
    func model(_ id: String, in states: Set<ModelState>) async throws -> ModelView {
        while true {
            let reply = try await send("GET", "/models/\(id)")
            try #require(reply.status == 200)
            let view: ModelView = try reply.decode()
            if states.contains(view.state) { return view }
        }
    }

    /// Uploads the fixture and has its model made.
    func finishedModel(quality: String = "draft") async throws -> ModelView {
        let video = try await upload(try Selfie.bytes())
        let id = try await submit(video.id, quality: quality).member("id")
        return try await model(id, in: [.done, .error])
    }
}

extension RawReply {
    func decode<Value: Decodable>() throws -> Value {
        try JSONDecoder().decode(Value.self, from: Data(body))
    }

    /// A member of a flat JSON object of strings.
    func member(_ name: String) throws -> String {
        let members: [String: String] = try decode()
        return try #require(members[name])
    }
}
