// Written by `RECORD=1 swift test --filter StartingTests` from the folder Pipelines.

extension ShippedExamples {
    static let azureBatch = ##"""
        {
          "$schema": "./pipeline.schema.json",
          "pipeline": 1,
          "name": "azure-batch",
          "description": "Azure Batch: a file to Blob storage, a task on it under a name of ours, its result from there.",
          "inputs": {
            "data":    { "type": "file" },
            "job":     { "type": "string", "description": "id of the Batch job" },
            "command": { "type": "string" },
            "tenant":  { "type": "string", "default": "common" }
          },
          "services": {
            // The container's URL; AZURE_SAS is its shared access signature, without the question mark.
            "blobs": { "url": "${{ env.AZURE_CONTAINER_URL ?? 'https://example.blob.core.windows.net/work' }}" },
            "batch": {
              "url": "${{ env.AZURE_BATCH_URL ?? 'https://example.westeurope.batch.azure.com' }}",
              "with": [ { "query": { "api-version": "2024-07-01.20.0" } }, { "oauth2": {
                "tokenURL": "${{ env.AZURE_LOGIN_URL ?? 'https://login.microsoftonline.com' }}/${{ inputs.tenant }}/oauth2/v2.0/token",
                "clientID": "${{ secrets.AZURE_CLIENT_ID }}", "clientSecret": "${{ secrets.AZURE_CLIENT_SECRET }}",
                "scope": "https://batch.core.windows.net/.default" } } ]
            }
          },
          "stages": [
            { "id": "upload", "kind": "upload", "service": "blobs", "protocol": "put", "file": "${{ inputs.data }}",
              "request": { "PUT": "/${{ job.key }}/in?${{ secrets.AZURE_SAS }}", "headers": { "x-ms-blob-type": "BlockBlob" } } },

            { "id": "task", "kind": "compute", "service": "batch",
              "submit": { "POST": "/jobs/${{ inputs.job }}/tasks", "headers": { "Content-Type": "application/json; odata=minimalmetadata" },
                          "json": { "id": "${{ slug(job.key) }}", "commandLine": "${{ inputs.command }}",
                                    "resourceFiles": [ { "filePath": "in", "httpUrl": "${{ env.AZURE_CONTAINER_URL }}/${{ job.key }}/in?${{ secrets.AZURE_SAS }}" } ],
                                    "outputFiles": [ { "filePattern": "out", "uploadOptions": { "uploadCondition": "taskSuccess" },
                                      "destination": { "container": { "path": "${{ job.key }}/out", "containerUrl": "${{ env.AZURE_CONTAINER_URL }}?${{ secrets.AZURE_SAS }}" } } } ] },
                          "once": { "name": { "GET": "/jobs/${{ inputs.job }}/tasks/${{ slug(job.key) }}" },
                                    "ours": "response.body.commandLine == inputs.command" } },
              "poll": { "GET": "/jobs/${{ inputs.job }}/tasks/${{ slug(job.key) }}", "status": "$.state",
                        "failWhen": "response.body.executionInfo.result == 'failure'", "succeeded": ["completed"],
                        "running": ["active", "preparing", "running"], "message": "$.executionInfo.failureInfo.message" },
              "cancel": { "POST": "/jobs/${{ inputs.job }}/tasks/${{ slug(job.key) }}/terminate" } },

            { "id": "result", "kind": "download", "service": "blobs", "needs": ["task"], "to": "${{ stem(inputs.data) }}.out",
              "request": { "GET": "/${{ job.key }}/out?${{ secrets.AZURE_SAS }}" } }
          ]
        }

        """##
}
