import PipelineTestKit

/// The whole flow with the built-in stages and real files: fewer schedules, since a disk takes its time.
extension Scenario {
    /// What is uploaded; several appends long.
    static let video = (0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 / 251) }

    static let transfers = Scenario(
        name: "upload, compute, download",
        document: """
            { "pipeline": 1, "name": "transfers", "retry": { "attempts": 1000, "for": "7d" },
              "services": { "models": { "url": "http://models", "with": [ { "bearer": "${{ secrets.TOKEN }}" } ] } },
              "stages": [
                { "id": "upload", "kind": "upload", "service": "models", "file": "FOLDER/selfie.bin",
                  "protocol": "resumable", "request": { "POST": "/uploads" }, "capture": { "content": "$.content" } },
                { "id": "model", "kind": "compute", "service": "models",
                  "submit": { "POST": "/jobs",
                              "json": { "input": "${{ stages.upload.content }}", "tag": "${{ self.key }}" },
                              "capture": { "id": "$.id" }, "once": { "key": "Idempotency-Key" } },
                  "poll": { "GET": "/jobs/${{ self.id }}", "status": "$.state", "running": ["queued", "running"],
                            "succeeded": ["done"], "failed": ["error"], "cancelled": ["cancelled"],
                            "capture": { "url": "$.result.url", "value": "$.result.value" } },
                  "estimate": "60s" },
                { "id": "download", "kind": "download", "service": "models",
                  "request": { "GET": "${{ stages.model.url }}" }, "to": "result.txt" } ] }
            """,
        outputs: ["model": model(ModelServer.name(of: video))],
        files: ["result.txt": model(ModelServer.name(of: video))],
        // An upload's last answer without its captures fails the stage for good.
        faults: NetworkFault.allCases.filter { $0 != .garbled })
}
