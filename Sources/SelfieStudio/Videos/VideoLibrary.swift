import FoundationEssentials
import Synchronization

/// The videos on disk, each a file and a record next to it. The record is written last: without it there is no video.
final class VideoLibrary: Sendable {
    private let folder: String
    private let incoming: String
    private let videos: Mutex<[String: Video]>
    /// Held while a video is put in its place: the same video may come in several times at once, under one name.
    private let place = Mutex(())

    /// Reads the records of an earlier run; what was only half there is deleted, because the upload library forgets
    /// its uploads when the process ends.
    init(dataFolder: String) throws {
        folder = dataFolder + "/videos"
        incoming = dataFolder + "/incoming"
        try? FileManager.default.removeItem(atPath: incoming)
        for path in [folder, incoming] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        var videos: [String: Video] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) where name.hasSuffix(".json") {
            guard let record = FileManager.default.contents(atPath: "\(folder)/\(name)"),
                let video = try? JSONDecoder().decode(Video.self, from: record)
            else { continue }
            videos[video.id] = video
        }
        self.videos = Mutex(videos)
    }

    var all: [Video] {
        videos.withLock { $0.values.sorted { $0.id < $1.id } }
    }

    func video(_ id: String) -> Video? {
        videos.withLock { $0[id] }
    }

    func path(of id: String) -> String {
        "\(folder)/\(id).y4m"
    }

    func incoming(_ number: Int) throws(DiskError) -> IncomingVideo {
        try IncomingVideo(path: incomingPath(number))
    }

    func discardIncoming(_ number: Int) {
        try? FileManager.default.removeItem(atPath: incomingPath(number))
    }

    /// Puts a complete video in its place; after a return it survives a crash.
    func accept(_ received: ReceivedVideo, name: String?) throws -> Video {
        let id = name ?? "v" + received.sha256.prefix(24)
        let video = Video(id: id, bytes: received.bytes, sha256: received.sha256)
        let record = try Array(JSONEncoder().encode(video))
        try DiskFile(reading: received.path).synchronize()
        try place.withLock { _ in
            try DiskFile.move(received.path, to: path(of: id))
            try DiskFile.replace("\(folder)/\(id).json", with: record)
            videos.withLock { $0[id] = video }
        }
        return video
    }

    private func incomingPath(_ number: Int) -> String {
        "\(incoming)/\(number)"
    }
}
