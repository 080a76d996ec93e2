// Written by `RECORD=1 swift test --filter StartingTests` from the folder Pipelines.

extension ShippedExamples {
    static let bigqueryExport = ##"""
        {
          "$schema": "./pipeline.schema.json",
          "pipeline": 1,
          "name": "bigquery-export",
          "description": "BigQuery: export a table to Cloud Storage under a job id of ours, download the files.",
          "inputs": {
            "project": { "type": "string" },
            "dataset": { "type": "string" },
            "table":   { "type": "string" },
            "bucket":  { "type": "string" }
          },
          "with": [ { "oauth2": { "tokenURL": "${{ env.GOOGLE_TOKEN_URL ?? 'https://oauth2.googleapis.com/token' }}",
            "assertion": { "algorithm": "RS256", "key": "${{ parse(secrets.GOOGLE_ACCOUNT).private_key }}", "lifetime": "1h",
                           "claims": { "iss": "${{ parse(secrets.GOOGLE_ACCOUNT).client_email }}",
                                       "scope": "https://www.googleapis.com/auth/cloud-platform" } } } } ],
          "services": {
            "bigquery": { "url": "${{ env.BIGQUERY_URL ?? 'https://bigquery.googleapis.com' }}/bigquery/v2/projects/${{ inputs.project }}" },
            "storage": { "url": "${{ env.GOOGLE_STORAGE_URL ?? 'https://storage.googleapis.com' }}/storage/v1/b/${{ inputs.bucket }}" }
          },
          "stages": [
            { "id": "export", "kind": "compute", "service": "bigquery",
              "submit": { "POST": "/jobs", "capture": { "id": "$.jobReference.jobId", "location": "$.jobReference.location" },
                          "json": { "jobReference": { "projectId": "${{ inputs.project }}", "jobId": "${{ self.key }}" },
                                    "configuration": { "extract": {
                                      "sourceTable": { "projectId": "${{ inputs.project }}", "datasetId": "${{ inputs.dataset }}", "tableId": "${{ inputs.table }}" },
                                      "destinationUris": ["gs://${{ inputs.bucket }}/${{ job.key }}/${{ inputs.table }}-*.csv.gz"],
                                      "compression": "GZIP" } } },
                          "once": { "name": { "GET": "/jobs/${{ self.key }}" }, "ours": "response.body.jobReference.jobId == self.key" } },
              "poll": { "GET": "/jobs/${{ self.id }}", "query": { "location": "${{ self.location }}" },
                        "failWhen": "response.body.status.errorResult != null", "status": "$.status.state",
                        "running": ["PENDING", "RUNNING"], "succeeded": ["DONE"], "message": "$.status.errorResult.message" },
              "cancel": { "POST": "/jobs/${{ self.id }}/cancel", "query": { "location": "${{ self.location }}" } } },

            { "id": "results", "kind": "request", "service": "storage", "needs": ["export"],
              "request": { "GET": "/o", "query": { "prefix": "${{ job.key }}/" } },
              "paginate": { "items": "$.items[*]", "next": { "cursor": "$.nextPageToken?", "param": "pageToken", "in": "query" } },
              "capture": { "names": "$items[*].name[]" } },

            { "id": "files", "kind": "download", "service": "storage", "forEach": "stages.results.names",
              "request": { "GET": "/o/${{ urlencode(item) }}", "query": { "alt": "media" } }, "to": "${{ basename(item) }}" }
          ]
        }

        """##
}
