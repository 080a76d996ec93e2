// Written by `RECORD=1 swift test --filter StartingTests` from the folder Pipelines.

extension ShippedExamples {
    static let meshy = ##"""
        {
          "$schema": "./pipeline.schema.json",
          "pipeline": 1,
          "name": "meshy",
          "description": "Meshy: a 3D model from a picture, which goes along in the request; the model as a file.",
          "inputs": {
            "image":   { "type": "file" },
            "texture": { "type": "boolean", "default": true }
          },
          "services": {
            "meshy": {
              "url": "${{ env.MESHY_URL ?? 'https://api.meshy.ai' }}/openapi/v1",
              "with": [ { "bearer": "${{ secrets.MESHY_API_KEY }}" } ]
            }
          },
          "stages": [
            { "id": "model", "kind": "compute", "service": "meshy",
              "submit": { "POST": "/image-to-3d", "capture": { "id": "$.result" },
                          "json": { "image_url": "data:image/${{ extension(inputs.image) == 'png' ? 'png' : 'jpeg' }};base64,${{ fileBase64(inputs.image) }}",
                                    "should_texture": "${{ inputs.texture }}" } },
              "poll": { "GET": "/image-to-3d/${{ self.id }}", "status": "$.status", "progress": "$.progress",
                        "running": ["PENDING", "IN_PROGRESS"], "succeeded": ["SUCCEEDED"], "failed": ["FAILED"],
                        "cancelled": ["CANCELED"], "message": "$.task_error.message", "capture": { "url": "$.model_urls.glb" } },
              "cancel": { "DELETE": "/image-to-3d/${{ self.id }}" },
              "expires": { "in": "3d" }, "estimate": "2m" },

            { "id": "file", "kind": "download", "to": "${{ stem(inputs.image) }}.glb",
              "request": { "GET": "${{ stages.model.url }}", "credentials": "none" } }
          ]
        }

        """##
}
