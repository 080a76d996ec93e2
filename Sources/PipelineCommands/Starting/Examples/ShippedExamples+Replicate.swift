// Written by `RECORD=1 swift test --filter StartingTests` from the folder Pipelines.

extension ShippedExamples {
    static let replicate = ##"""
        {
          "$schema": "./pipeline.schema.json",
          "pipeline": 1,
          "name": "replicate",
          "description": "Replicate: run a model, download each file that it made before they are removed.",
          "inputs": {
            "version": { "type": "string", "description": "the model's version" },
            "prompt":  { "type": "string", "default": "an astronaut riding a horse" }
          },
          "services": {
            "replicate": {
              "url": "${{ env.REPLICATE_URL ?? 'https://api.replicate.com' }}",
              "with": [ { "bearer": "${{ secrets.REPLICATE_API_TOKEN }}" } ]
            }
          },
          "stages": [
            { "id": "model", "kind": "compute", "service": "replicate",
              "submit": { "POST": "/v1/predictions", "with": [ { "prefer": "wait=5" } ],
                          "json": { "version": "${{ inputs.version }}", "input": { "prompt": "${{ inputs.prompt }}" } },
                          "capture": { "poll": { "select": "$.urls.get", "url": true },
                                       "stop": { "select": "$.urls.cancel", "url": true } } },
              "poll": { "GET": "${{ self.poll }}", "status": "$.status",
                        "succeeded": ["succeeded"], "failed": ["failed"], "cancelled": ["canceled", "aborted"],
                        "message": "$.error",
                        "capture": { "files": "$.output[*][]", "file": "$.output" } },
              "cancel": { "POST": "${{ self.stop }}" } },

            { "id": "files", "kind": "download", "concurrency": 4,
              "forEach": "len(stages.model.files) > 0 ? stages.model.files : split(stages.model.file, ' ')",
              "request": { "GET": "${{ item }}", "credentials": "none" },
              "to": "${{ string(index) }}-${{ basename(item) }}" }
          ]
        }

        """##
}
