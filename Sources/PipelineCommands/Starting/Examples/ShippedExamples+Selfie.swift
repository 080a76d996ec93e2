// Written by `RECORD=1 swift test --filter StartingTests` from the folder Pipelines.

extension ShippedExamples {
    static let selfie = ##"""
        {
          "$schema": "./pipeline.schema.json",
          "pipeline": 1,
          "name": "selfie",
          "description": "Turn a video selfie into a 3D face model.",
          "inputs": {
            "video":   { "type": "file", "default": "../Fixtures/selfie.y4m", "description": "the video to send" },
            "quality": { "type": "string", "enum": ["draft", "full"], "default": "full" }
          },
          "services": {
            "studio": {
              "url": "${{ env.SELFIE_URL ?? 'http://127.0.0.1:8787' }}",
              "with": [ { "bearer": "${{ secrets.SELFIE_TOKEN ?? 'demo' }}" } ]
            }
          },
          "stages": [
            { "id": "upload", "kind": "upload", "service": "studio",
              "file": "${{ inputs.video }}", "protocol": "resumable",
              "request": { "POST": "/videos" },
              "capture": { "video": "$.id" } },

            { "id": "model", "kind": "compute", "service": "studio",
              "submit": { "POST": "/models", "json": { "video": "${{ stages.upload.video }}", "quality": "${{ inputs.quality }}" },
                          "capture": { "id": "$.id" }, "once": { "key": "Idempotency-Key" } },
              "poll": { "GET": "/models/${{ self.id }}", "status": "$.state",
                        "succeeded": ["done"], "failed": ["error"], "progress": "$.percent", "remaining": "$.eta_seconds?",
                        "capture": { "url": "$.result.url", "sha256": "$.result.sha256" } },
              "cancel": { "DELETE": "/models/${{ self.id }}" },
              "estimate": "60s", "deadline": "30m" },

            { "id": "download", "kind": "download", "service": "studio",
              "request": { "GET": "${{ stages.model.url }}" },
              "to": "${{ stem(inputs.video) }}.obj",
              "verify": { "sha256": "${{ stages.model.sha256 }}" } }
          ],
          "notify": [ { "on": ["estimated", "succeeded", "failed"], "desktop": true } ]
        }

        """##
}
