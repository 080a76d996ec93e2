// Written by `RECORD=1 swift test --filter StartingTests` from the folder Pipelines.

extension ShippedExamples {
    static let fal = ##"""
        {
          "$schema": "./pipeline.schema.json",
          "pipeline": 1,
          "name": "fal",
          "description": "fal: queue a request to a model; where it stands is at one URL, what it made at another.",
          "inputs": {
            "model":  { "type": "string", "default": "fal-ai/flux/dev" },
            "prompt": { "type": "string", "default": "a lighthouse at dusk" }
          },
          "services": {
            "fal": {
              "url": "${{ env.FAL_URL ?? 'https://queue.fal.run' }}",
              "with": [ { "headers": { "Authorization": "Key ${{ secrets.FAL_KEY }}" } } ]
            }
          },
          "stages": [
            { "id": "run", "kind": "compute", "service": "fal",
              "submit": { "POST": "/${{ inputs.model }}", "json": { "prompt": "${{ inputs.prompt }}" },
                          "capture": { "status": "$.status_url", "response": "$.response_url", "cancel": "$.cancel_url" } },
              "poll": { "GET": "${{ self.status }}", "expect": [200, 202], "status": "$.status",
                        "running": ["IN_QUEUE", "IN_PROGRESS"], "succeeded": ["COMPLETED"], "message": "$.error" },
              "cancel": { "PUT": "${{ self.cancel }}" } },

            { "id": "answer", "kind": "request", "service": "fal", "needs": ["run"],
              "request": { "GET": "${{ stages.run.response }}" }, "capture": { "images": "$.images[*].url[]" } },

            { "id": "images", "kind": "download", "forEach": "stages.answer.images",
              "request": { "GET": "${{ item }}", "credentials": "none" },
              "to": "${{ string(index) }}-${{ basename(item) }}" }
          ]
        }

        """##
}
