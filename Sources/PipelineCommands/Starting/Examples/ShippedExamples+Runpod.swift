// Written by `RECORD=1 swift test --filter StartingTests` from the folder Pipelines.

extension ShippedExamples {
    static let runpod = ##"""
        {
          "$schema": "./pipeline.schema.json",
          "pipeline": 1,
          "name": "runpod",
          "description": "RunPod serverless: the output stands in the answer and is kept for half an hour.",
          "inputs": {
            "endpoint": { "type": "string" },
            "input":    { "type": "json", "default": { "prompt": "hello" } }
          },
          "services": {
            "runpod": {
              "url": "${{ env.RUNPOD_URL ?? 'https://api.runpod.ai' }}/v2/${{ inputs.endpoint }}",
              "with": [ { "bearer": "${{ secrets.RUNPOD_API_KEY }}" } ]
            }
          },
          "stages": [
            { "id": "run", "kind": "compute", "service": "runpod",
              "submit": { "POST": "/run", "json": { "input": "${{ inputs.input }}" }, "capture": { "id": "$.id" } },
              "poll": { "GET": "/status/${{ self.id }}", "status": "$.status",
                        "running": ["IN_QUEUE", "IN_PROGRESS"], "succeeded": ["COMPLETED"],
                        "failed": ["FAILED", "TIMED_OUT"], "cancelled": ["CANCELLED"], "unknownStatus": "fail",
                        "message": "$.error", "max": "5m",
                        "capture": { "output": "$.output" } },
              "cancel": { "POST": "/cancel/${{ self.id }}" } },

            { "id": "output", "kind": "write", "json": "${{ stages.run.output }}", "to": "${{ job.key }}.json" }
          ]
        }

        """##
}
