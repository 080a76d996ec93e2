// Written by `RECORD=1 swift test --filter StartingTests` from the folder Pipelines.

extension ShippedExamples {
    static let openaiBatch = ##"""
        {
          "$schema": "./pipeline.schema.json",
          "pipeline": 1,
          "name": "openai-batch",
          "description": "OpenAI Batch: upload requests as JSON Lines, in parts when they are large; get results and errors.",
          "inputs": {
            "requests": { "type": "file", "description": "JSON Lines, one request a line, each with a custom_id" },
            "endpoint": { "type": "string", "default": "/v1/chat/completions" },
            "large":    { "type": "number", "default": 100000000, "description": "bytes from which the file goes in parts" }
          },
          "services": {
            "openai": {
              "url": "${{ env.OPENAI_URL ?? 'https://api.openai.com' }}",
              "with": [ { "bearer": "${{ secrets.OPENAI_API_KEY }}" } ]
            }
          },
          "stages": [
            { "id": "whole", "kind": "upload", "service": "openai", "when": "size(inputs.requests) < inputs.large",
              "file": "${{ inputs.requests }}", "protocol": "multipart", "fields": { "purpose": "batch" },
              "request": { "POST": "/v1/files" },
              "capture": { "id": "$.id" } },

            { "id": "parts", "kind": "upload", "service": "openai", "when": "size(inputs.requests) >= inputs.large",
              "file": "${{ inputs.requests }}", "protocol": "parts", "partSize": "64MB", "parallel": 4,
              "request": { "POST": "/v1/uploads", "capture": { "upload": "$.id" },
                           "json": { "purpose": "batch", "filename": "${{ basename(inputs.requests) }}",
                                     "bytes": "${{ size(inputs.requests) }}", "mime_type": "application/jsonl" } },
              "part": { "POST": "/v1/uploads/${{ self.upload }}/parts", "capture": { "part": "$.id" },
                        "with": [ { "multipart": { "files": [ { "name": "data", "part": true } ] } } ] },
              "complete": { "POST": "/v1/uploads/${{ self.upload }}/complete",
                            "json": { "part_ids": "${{ self.parts.part }}" }, "capture": { "id": "$.file.id" } },
              "cancel": { "POST": "/v1/uploads/${{ self.upload }}/cancel" } },

            { "id": "batch", "kind": "compute", "service": "openai", "deadline": "25h",
              "submit": { "POST": "/v1/batches", "capture": { "id": "$.id" },
                          "json": { "input_file_id": "${{ stages.whole.id ?? stages.parts.id ?? '' }}",
                                    "endpoint": "${{ inputs.endpoint }}", "completion_window": "24h",
                                    "metadata": { "pipeline": "${{ job.key }}" } },
                          "once": { "match": { "list": { "GET": "/v1/batches", "query": { "limit": 100 } },
                                               "items": "$.data[*]", "where": "item.metadata.pipeline == job.key" } } },
              "poll": { "GET": "/v1/batches/${{ self.id }}", "status": "$.status",
                        "succeeded": ["completed"], "failed": ["failed"], "cancelled": ["expired", "cancelled"],
                        "progress": { "done": "$.request_counts.completed", "total": "$.request_counts.total" },
                        "message": "$.errors.data[*].message",
                        "capture": { "output": "$.output_file_id?", "errors": "$.error_file_id?",
                                     "failed": "$.request_counts.failed" } },
              "cancel": { "POST": "/v1/batches/${{ self.id }}/cancel" },
              "warn": [ { "when": "self.failed > 0", "message": "${{ self.failed }} requests failed" } ] },

            { "id": "results", "kind": "download", "service": "openai", "when": "stages.batch.output != null",
              "request": { "GET": "/v1/files/${{ stages.batch.output ?? '' }}/content" },
              "to": "${{ stem(inputs.requests) }}.results.jsonl" },

            { "id": "errors", "kind": "download", "service": "openai", "when": "stages.batch.errors != null",
              "request": { "GET": "/v1/files/${{ stages.batch.errors ?? '' }}/content" },
              "to": "${{ stem(inputs.requests) }}.errors.jsonl" }
          ]
        }

        """##
}
