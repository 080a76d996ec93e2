// Written by `RECORD=1 swift test --filter StartingTests` from the folder Pipelines.

extension ShippedExamples {
    static let cloudconvert = ##"""
        {
          "$schema": "./pipeline.schema.json",
          "pipeline": 1,
          "name": "cloudconvert",
          "description": "CloudConvert: the job is made first and says where to upload; then it runs and gives files.",
          "inputs": {
            "document": { "type": "file" },
            "format":   { "type": "string", "default": "pdf" }
          },
          "services": {
            "cloudconvert": {
              "url": "${{ env.CLOUDCONVERT_URL ?? 'https://api.cloudconvert.com' }}",
              "with": [ { "bearer": "${{ secrets.CLOUDCONVERT_API_KEY }}" } ]
            }
          },
          "stages": [
            { "id": "job", "kind": "request", "service": "cloudconvert",
              "request": { "POST": "/v2/jobs",
                           "json": { "tag": "${{ job.key }}",
                                     "tasks": { "in":  { "operation": "import/upload" },
                                                "to":  { "operation": "convert", "input": "in",
                                                         "output_format": "${{ inputs.format }}" },
                                                "out": { "operation": "export/url", "input": "to" } } },
                           "once": { "match": { "list": { "GET": "/v2/jobs", "query": { "filter[tag]": "${{ job.key }}" } },
                                                "items": "$.data[*]", "where": "item.tag == job.key",
                                                "then": { "GET": "/v2/jobs/${{ item.id }}" } } } },
              "capture": { "id": "$.data.id",
                           "form": "$.data.tasks[?@.operation == 'import/upload'].result.form.url",
                           "parameters": "$.data.tasks[?@.operation == 'import/upload'].result.form.parameters" } },

            { "id": "upload", "kind": "upload", "file": "${{ inputs.document }}", "protocol": "multipart",
              "fields": "${{ stages.job.parameters }}",
              "request": { "POST": "${{ stages.job.form }}", "credentials": "none" } },

            { "id": "convert", "kind": "compute", "service": "cloudconvert",
              "poll": { "GET": "/v2/jobs/${{ stages.job.id }}", "status": "$.data.status",
                        "succeeded": ["finished"], "failed": ["error"],
                        "message": "$.data.tasks[?@.status == 'error'].message",
                        "capture": { "files": "$.data.tasks[?@.operation == 'export/url'].result.files[*].url[]" } },
              "cancel": { "DELETE": "/v2/jobs/${{ stages.job.id }}" } },

            { "id": "results", "kind": "download", "forEach": "stages.convert.files",
              "request": { "GET": "${{ item }}", "credentials": "none" }, "to": "./" }
          ]
        }

        """##
}
