import Foundation
import Testing

/// Documents and inputs that the tests run.
enum Documents {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// The shipped pipeline without the previews: one result, so that what a crash costs can be counted.
    static let selfie = root.appending(path: "Tests/PipelineCoreTests/Valid/selfie.json").path(percentEncoded: false)

    /// The video that it sends when none is named.
    static let video = root.appending(path: "Fixtures/selfie.y4m").path(percentEncoded: false)

    static let videoSize = (try? FileManager.default.attributesOfItem(atPath: video)[.size] as? Int) ?? 0

    /// The shipped pipeline with pieces of its text replaced; each piece must be there. It asks often, so that a test
    /// need not wait.
    static func selfie(replacing pieces: [(old: String, new: String)] = []) throws -> String {
        var text = try String(contentsOfFile: selfie, encoding: .utf8)
        for (old, new) in [(#""poll": { "GET""#, #""poll": { "every": "100ms", "GET""#)] + pieces {
            try #require(text.contains(old), "the shipped pipeline has changed")
            text = text.replacingOccurrences(of: old, with: new)
        }
        return text
    }

    /// Returns the same, unable to settle a lost submit.
    static func selfieWithoutOnce() throws -> String {
        try selfie(replacing: [(#", "once": { "key": "Idempotency-Key" }"#, "")])
    }

    /// Returns the same, which polls once and then not for an hour.
    static func selfieAskingRarely() throws -> String {
        try selfie(replacing: [(#""every": "100ms""#, #""first": "100ms", "every": "1h""#)])
    }

    /// Returns the same, which tries again soon.
    static func selfieRetryingSoon() throws -> String {
        try selfie(replacing: [
            (#""name": "selfie","#, #""name": "selfie", "retry": { "attempts": 20, "delay": "20ms", "max": "100ms" },"#)
        ])
    }

    /// An upload of a large file, in parts.
    static let largeUpload = """
        { "pipeline": 1, "name": "large", "retry": { "delay": "20ms" },
          "inputs": { "file": { "type": "file" } },
          "services": { "studio": { "url": "${{ env.SELFIE_URL }}", "with": [ { "bearer": "demo" } ] } },
          "stages": [
            { "id": "upload", "kind": "upload", "service": "studio", "file": "${{ inputs.file }}",
              "protocol": "resumable", "partSize": "4MiB", "request": { "POST": "/videos" },
              "capture": { "video": "$.id" } } ] }
        """

    /// A download of the shape of the selfie's last stage, from any server.
    static let download = """
        { "pipeline": 1, "name": "fetch", "retry": { "for": "1s", "delay": "50ms", "attempts": 2 },
          "services": { "server": { "url": "${{ env.SERVER_URL }}" } },
          "stages": [
            { "id": "download", "kind": "download", "service": "server",
              "request": { "GET": "/file", "timeout": "2s" }, "to": "file.bin" } ] }
        """

    /// A submit that nothing settles, after a request that leaves a connection open.
    static let uploadAndCompute = """
        { "pipeline": 1, "name": "pair",
          "inputs": { "file": { "type": "file" } },
          "services": { "server": { "url": "${{ env.SERVER_URL }}" } },
          "stages": [
            { "id": "upload", "kind": "upload", "service": "server", "file": "${{ inputs.file }}",
              "protocol": "put", "request": { "PUT": "/file" } },
            { "id": "model", "kind": "compute", "service": "server",
              "submit": { "POST": "/jobs", "json": { "a": 1 }, "capture": { "id": "$.id" } },
              "poll": { "GET": "/jobs/${{ self.id }}", "status": "$.state", "succeeded": ["done"] } } ] }
        """

    /// A job at any server.
    static let compute = """
        { "pipeline": 1, "name": "compute",
          "services": { "server": { "url": "${{ env.SERVER_URL }}" } },
          "stages": [
            { "id": "model", "kind": "compute", "service": "server",
              "submit": { "POST": "/jobs", "json": { "a": 1 }, "capture": { "id": "$.id" } },
              "poll": { "GET": "/jobs/${{ self.id }}", "status": "$.state", "succeeded": ["done"],
                        "failed": ["error"] } } ] }
        """

    /// An upload in one request to any server, which gives up soon.
    static let put = """
        { "pipeline": 1, "name": "put", "retry": { "for": "1s", "delay": "50ms", "attempts": 2 },
          "inputs": { "file": { "type": "file" } },
          "services": { "server": { "url": "${{ env.SERVER_URL }}" } },
          "stages": [
            { "id": "upload", "kind": "upload", "service": "server", "file": "${{ inputs.file }}",
              "protocol": "put", "request": { "PUT": "/file", "timeout": "500ms" } } ] }
        """
}
