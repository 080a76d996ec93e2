import PipelineCore

/// The document that `pipeline init` writes: an upload, a job and a download. It runs as it is against the
/// demonstration service.
enum StarterDocument {
    /// A pipeline's name made of a folder's.
    static func name(for folder: String) -> String {
        let words = folder.lowercased().split { !$0.isASCII || !($0.isLetter || $0.isNumber) }
        let name = words.joined(separator: "-").drop { !$0.isLetter }
        return name.isEmpty ? "my-pipeline" : String(name)
    }

    static func text(named name: String) -> String { template.replacing("NAME", with: name) }

    private static let template = #"""
        // A pipeline: upload a file, have a service work on it, download the result.
        // Comments and trailing commas are fine. `pipeline validate FILE` checks it, `pipeline plan FILE` shows what
        // it would do, `pipeline run FILE -i source=FILE` does it; whatever stops it, `pipeline resume` goes on.
        {
          "$schema": "./pipeline.schema.json",
          "pipeline": 1,
          "name": "NAME",

          // What a run is given: -i source=PATH. An input with no "default" is required.
          "inputs": {
            "source": { "type": "file", "description": "the file to send" }
          },

          // Where the service is, and what goes along with each request to it. This one is the demonstration service,
          // `selfie-studio`, which makes a 3D model of a y4m video. A secret comes from PIPELINE_SECRET_API_TOKEN or
          // --secrets-file, and is never shown.
          "services": {
            "api": {
              "url": "${{ env.API_URL ?? 'http://127.0.0.1:8787' }}",
              "with": [ { "bearer": "${{ secrets.API_TOKEN ?? 'demo' }}" } ]
            }
          },

          "stages": [
            // Sends the file, and goes on where it was after an interruption. Plain uploads: "protocol": "put".
            { "id": "upload", "kind": "upload", "service": "api",
              "file": "${{ inputs.source }}", "protocol": "resumable",
              "request": { "POST": "/videos" },
              "capture": { "id": "$.id" } },

            // Starts the job once, also when the answer gets lost ("once"), and asks how it is until it has ended.
            { "id": "job", "kind": "compute", "service": "api",
              "submit": {
                "POST": "/models", "json": { "video": "${{ stages.upload.id }}" },
                "capture": { "id": "$.id" },
                "once": { "key": "Idempotency-Key" }
              },
              "poll": {
                "GET": "/models/${{ self.id }}",
                "status": "$.state", "succeeded": ["done"], "failed": ["error"],
                "capture": { "url": "$.result.url", "sha256": "$.result.sha256" }
              },
              "cancel": { "DELETE": "/models/${{ self.id }}" },
              "deadline": "1h" },

            // Gets the result; only a whole file that matches gets the name.
            { "id": "download", "kind": "download", "service": "api",
              "request": { "GET": "${{ stages.job.url }}" },
              "to": "${{ stem(inputs.source) }}.obj",
              "verify": { "sha256": "${{ stages.job.sha256 }}" } }
          ]
        }

        """#
}
