import Foundation

/// A folder of a schedule's own, with the video to upload in it.
struct ScenarioFolder: Sendable {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "pipeline-simulation-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try Data(Scenario.video).write(to: URL(fileURLWithPath: path + "/selfie.bin"))
    }

    /// The names of all files in it.
    var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path).sorted()) ?? [] }

    func text(of name: String) -> String? { try? String(contentsOfFile: "\(path)/\(name)", encoding: .utf8) }

    func remove() { try? FileManager.default.removeItem(atPath: path) }
}
