// Written by `RECORD=1 swift test --filter StartingTests` from the folder Pipelines.

extension ShippedExamples {
    static let anthropicBatch = ##"""
        {
          "$schema": "./pipeline.schema.json",
          "pipeline": 1,
          "name": "anthropic-batch",
          "description": "Anthropic Message Batches: the requests go inline, streamed from a file of JSON Lines.",
          "inputs": {
            "requests": { "type": "file", "description": "JSON Lines, each line with custom_id and params" }
          },
          "services": {
            "anthropic": {
              "url": "${{ env.ANTHROPIC_URL ?? 'https://api.anthropic.com' }}",
              "with": [ { "apiKey": { "header": "x-api-key", "value": "${{ secrets.ANTHROPIC_API_KEY }}" } },
                        { "headers": { "anthropic-version": "2023-06-01" } } ]
            }
          },
          "stages": [
            { "id": "batch", "kind": "compute", "service": "anthropic", "deadline": "25h",
              "submit": { "POST": "/v1/messages/batches", "json": { "requests": "${{ jsonLines(inputs.requests) }}" },
                          "capture": { "id": "$.id" } },
              "poll": { "GET": "/v1/messages/batches/${{ self.id }}", "status": "$.processing_status",
                        "running": ["in_progress", "canceling"], "succeeded": ["ended"],
                        "capture": { "url": "$.results_url", "errored": "$.request_counts.errored",
                                     "expired": "$.request_counts.expired" } },
              "cancel": { "POST": "/v1/messages/batches/${{ self.id }}/cancel" },
              "warn": [ { "when": "self.errored + self.expired > 0",
                          "message": "${{ self.errored + self.expired }} requests have no result" } ] },

            { "id": "results", "kind": "download", "service": "anthropic",
              "request": { "GET": "${{ stages.batch.url }}" },
              "to": "${{ stem(inputs.requests) }}.results.jsonl" }
          ]
        }

        """##
}
