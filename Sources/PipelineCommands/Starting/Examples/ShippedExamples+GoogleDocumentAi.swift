// Written by `RECORD=1 swift test --filter StartingTests` from the folder Pipelines.

extension ShippedExamples {
    static let googleDocumentAi = ##"""
        {
          "$schema": "./pipeline.schema.json",
          "pipeline": 1,
          "name": "google-document-ai",
          "description": "Google Document AI as a service account: a document to Cloud Storage, a batch, its results from there.",
          "inputs": {
            "document":  { "type": "file" },
            "bucket":    { "type": "string" },
            "processor": { "type": "string", "description": "projects/P/locations/L/processors/ID" }
          },
          "with": [ { "oauth2": { "tokenURL": "${{ env.GOOGLE_TOKEN_URL ?? 'https://oauth2.googleapis.com/token' }}",
            "assertion": { "algorithm": "RS256", "key": "${{ parse(secrets.GOOGLE_ACCOUNT).private_key }}", "lifetime": "1h",
                           "claims": { "iss": "${{ parse(secrets.GOOGLE_ACCOUNT).client_email }}",
                                       "scope": "https://www.googleapis.com/auth/cloud-platform" } } } } ],
          "services": {
            "storage": { "url": "${{ env.GOOGLE_STORAGE_URL ?? 'https://storage.googleapis.com' }}" },
            "documents": { "url": "${{ env.GOOGLE_DOCUMENTS_URL ?? 'https://documentai.googleapis.com' }}/v1" }
          },
          "stages": [
            { "id": "upload", "kind": "upload", "service": "storage", "protocol": "gcs", "file": "${{ inputs.document }}",
              "request": { "POST": "/upload/storage/v1/b/${{ inputs.bucket }}/o",
                           "query": { "uploadType": "resumable", "name": "${{ job.key }}/in/${{ basename(inputs.document) }}" } },
              "capture": { "name": "$.name" } },

            { "id": "process", "kind": "compute", "service": "documents",
              "submit": { "POST": "/${{ inputs.processor }}:batchProcess", "capture": { "name": "$.name" },
                          "json": { "inputDocuments": { "gcsDocuments": { "documents": [
                                      { "gcsUri": "gs://${{ inputs.bucket }}/${{ stages.upload.name }}", "mimeType": "application/pdf" } ] } },
                                    "documentOutputConfig": { "gcsOutputConfig": { "gcsUri": "gs://${{ inputs.bucket }}/${{ job.key }}/out/" } } } },
              "poll": { "GET": "/${{ self.name }}", "failWhen": "response.body.done == true && response.body.error != null",
                        "until": "response.body.done == true", "message": "$.error.message" },
              "cancel": { "POST": "/${{ self.name }}:cancel" } },

            { "id": "results", "kind": "request", "service": "storage", "needs": ["process"],
              "request": { "GET": "/storage/v1/b/${{ inputs.bucket }}/o", "query": { "prefix": "${{ job.key }}/out/" } },
              "paginate": { "items": "$.items[*]", "next": { "cursor": "$.nextPageToken?", "param": "pageToken", "in": "query" } },
              "capture": { "names": "$items[*].name[]" } },

            { "id": "files", "kind": "download", "service": "storage", "forEach": "stages.results.names",
              "request": { "GET": "/storage/v1/b/${{ inputs.bucket }}/o/${{ urlencode(item) }}", "query": { "alt": "media" } },
              "to": "${{ basename(item) }}" }
          ]
        }

        """##
}
