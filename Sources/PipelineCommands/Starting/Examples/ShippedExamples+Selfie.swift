// Written by `RECORD=1 swift test --filter StartingTests` from the folder Pipelines.

extension ShippedExamples {
    static let selfie = ##"""
        {
          "$schema": "./pipeline.schema.json",
          "pipeline": 1,
          "name": "selfie",
          "description": "Turn a video selfie into a 3D face model, with a picture of it and a page that turns it.",
          "inputs": {
            "video":   { "type": "file", "default": "../Fixtures/selfie.y4m", "description": "the video to send, as Y4M" },
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
                        "capture": { "mesh": "$.result", "preview": "$.result.preview", "page": "$.result.page" } },
              "cancel": { "DELETE": "/models/${{ self.id }}" },
              "estimate": "60s", "deadline": "30m" },

            { "id": "mesh", "kind": "download", "service": "studio",
              "request": { "GET": "${{ stages.model.mesh.url }}" },
              "to": "${{ stem(inputs.video) }}.obj",
              "verify": { "sha256": "${{ stages.model.mesh.sha256 }}" } },

            { "id": "preview", "kind": "download", "service": "studio",
              "request": { "GET": "${{ stages.model.preview.url }}" },
              "to": "${{ stem(inputs.video) }}.png",
              "verify": { "sha256": "${{ stages.model.preview.sha256 }}" } },

            { "id": "page", "kind": "download", "service": "studio",
              "request": { "GET": "${{ stages.model.page.url }}" },
              "to": "${{ stem(inputs.video) }}.html",
              "verify": { "sha256": "${{ stages.model.page.sha256 }}" } }
          ]
        }

        """##
}
