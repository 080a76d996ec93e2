// Written by `RECORD=1 swift test --filter StartingTests` from the folder Pipelines.

extension ShippedExamples {
    static let azureOperation = ##"""
        {
          "$schema": "./pipeline.schema.json",
          "pipeline": 1,
          "name": "azure-operation",
          "description": "An Azure long-running operation: the answer's header says where to ask; the result is a resource.",
          "inputs": {
            "resource": { "type": "string", "description": "path of the resource, beginning with /" },
            "body":     { "type": "json", "default": {} },
            "tenant":   { "type": "string", "default": "common" }
          },
          "services": {
            "azure": {
              "url": "${{ env.AZURE_URL ?? 'https://management.azure.com' }}",
              "with": [ { "oauth2": {
                "tokenURL": "${{ env.AZURE_LOGIN_URL ?? 'https://login.microsoftonline.com' }}/${{ inputs.tenant }}/oauth2/v2.0/token",
                "clientID": "${{ secrets.AZURE_CLIENT_ID }}", "clientSecret": "${{ secrets.AZURE_CLIENT_SECRET }}",
                "scope": "https://management.azure.com/.default" } } ]
            }
          },
          "stages": [
            { "id": "change", "kind": "compute", "service": "azure",
              "submit": { "PUT": "${{ inputs.resource }}", "query": { "api-version": "2024-01-01" },
                          "json": "${{ inputs.body }}", "once": { "resend": true },
                          "capture": { "operation": ["header:Operation-Location", "header:Azure-AsyncOperation", "header:Location?"] } },
              "poll": { "GET": "${{ self.operation ?? inputs.resource + '?api-version=2024-01-01' }}",
                        "status": ["$.status", "$.properties.provisioningState"], "ignoreCase": true,
                        "succeeded": ["Succeeded"], "failed": ["Failed"], "cancelled": ["Canceled"],
                        "progress": "$.percentComplete", "message": "$.error.message" } },

            { "id": "result", "kind": "request", "service": "azure", "needs": ["change"],
              "request": { "GET": "${{ inputs.resource }}", "query": { "api-version": "2024-01-01" } },
              "to": "resource.json" }
          ]
        }

        """##
}
