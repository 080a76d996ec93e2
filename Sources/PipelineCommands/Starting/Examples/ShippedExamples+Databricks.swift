// Written by `RECORD=1 swift test --filter StartingTests` from the folder Pipelines.

extension ShippedExamples {
    static let databricks = ##"""
        {
          "$schema": "./pipeline.schema.json",
          "pipeline": 1,
          "name": "databricks",
          "description": "Databricks: a file into a volume, a job on it, which starts once whatever happens, its result from the volume.",
          "inputs": {
            "data":   { "type": "file" },
            "job":    { "type": "number", "description": "id of the job" },
            "volume": { "type": "string", "description": "CATALOG/SCHEMA/VOLUME" }
          },
          "services": {
            "databricks": {
              "url": "${{ env.DATABRICKS_HOST ?? 'https://example.cloud.databricks.com' }}",
              "with": [ { "bearer": "${{ secrets.DATABRICKS_TOKEN }}" } ]
            }
          },
          "stages": [
            { "id": "upload", "kind": "upload", "service": "databricks", "protocol": "put", "file": "${{ inputs.data }}",
              "request": { "PUT": "/api/2.0/fs/files/Volumes/${{ inputs.volume }}/${{ job.key }}/${{ urlencode(basename(inputs.data)) }}",
                           "query": { "overwrite": true } } },

            { "id": "run", "kind": "compute", "service": "databricks",
              "submit": { "POST": "/api/2.1/jobs/run-now", "capture": { "id": "$.run_id" }, "once": { "key": true },
                          "json": { "job_id": "${{ inputs.job }}", "idempotency_token": "${{ self.key }}",
                                    "job_parameters": { "folder": "/Volumes/${{ inputs.volume }}/${{ job.key }}" } } },
              "poll": { "GET": "/api/2.1/jobs/runs/get", "query": { "run_id": "${{ self.id }}" },
                        "status": ["$.state.result_state", "$.state.life_cycle_state"],
                        "running": ["QUEUED", "PENDING", "RUNNING", "TERMINATING", "BLOCKED", "WAITING_FOR_RETRY"],
                        "succeeded": ["SUCCESS", "SUCCESS_WITH_FAILURES"], "cancelled": ["CANCELED"],
                        "failed": ["FAILED", "TIMEDOUT", "MAXIMUM_CONCURRENT_RUNS_REACHED", "UPSTREAM_FAILED", "EXCLUDED", "SKIPPED", "INTERNAL_ERROR"],
                        "message": "$.state.state_message" },
              "cancel": { "POST": "/api/2.1/jobs/runs/cancel", "json": { "run_id": "${{ self.id }}" } } },

            { "id": "result", "kind": "download", "service": "databricks", "needs": ["run"], "to": "${{ stem(inputs.data) }}.result.csv",
              "request": { "GET": "/api/2.0/fs/files/Volumes/${{ inputs.volume }}/${{ job.key }}/result.csv" } }
          ]
        }

        """##
}
