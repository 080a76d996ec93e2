// Written by `RECORD=1 swift test --filter StartingTests` from the folder Pipelines.

extension ShippedExamples {
    static let rayJobs = ##"""
        {
          "$schema": "./pipeline.schema.json",
          "pipeline": 1,
          "name": "ray-jobs",
          "description": "Ray Jobs: submit a job under an id of ours, watch it, keep its log, remove it.",
          "inputs": {
            "entrypoint": { "type": "string", "default": "python train.py" },
            "directory":  { "type": "string", "description": "URI of the working directory, such as s3://bucket/code.zip" }
          },
          "services": { "ray": { "url": "${{ env.RAY_URL ?? 'http://127.0.0.1:8265' }}" } },
          "stages": [
            { "id": "train", "kind": "compute", "service": "ray",
              "submit": { "POST": "/api/jobs/",
                          "json": { "submission_id": "${{ job.key }}", "entrypoint": "${{ inputs.entrypoint }}",
                                    "runtime_env": { "working_dir": "${{ inputs.directory }}" },
                                    "metadata": { "pipeline": "${{ job.key }}" } },
                          "capture": { "id": "$.submission_id" },
                          "once": { "name": { "GET": "/api/jobs/${{ job.key }}" },
                                    "ours": "response.body.metadata.pipeline == job.key" } },
              "poll": { "GET": "/api/jobs/${{ self.id }}", "status": "$.status",
                        "running": ["PENDING", "RUNNING"], "succeeded": ["SUCCEEDED"], "failed": ["FAILED"],
                        "cancelled": ["STOPPED"], "message": "$.message" },
              "cancel": { "POST": "/api/jobs/${{ self.id }}/stop" } },

            { "id": "log", "kind": "download", "service": "ray",
              "request": { "GET": "/api/jobs/${{ stages.train.id }}/logs" }, "select": "$.logs",
              "to": "${{ job.key }}.log" }
          ],
          "finally": [
            { "id": "remove", "kind": "request", "service": "ray", "when": "stages.train.id != null",
              "request": { "DELETE": "/api/jobs/${{ stages.train.id ?? '' }}", "expect": ["2xx", 404] } }
          ]
        }

        """##
}
