// Written by `RECORD=1 swift test --filter StartingTests` from the folder Pipelines.

extension ShippedExamples {
    static let slurm = ##"""
        {
          "$schema": "./pipeline.schema.json",
          "pipeline": 1,
          "name": "slurm",
          "description": "slurmrestd: submit a script; ask the controller, and the accounting database once it has forgotten.",
          "inputs": {
            "script":    { "type": "file" },
            "directory": { "type": "string", "default": "/tmp" },
            "version":   { "type": "string", "default": "v0.0.44" }
          },
          "services": {
            "slurm": {
              "url": "${{ env.SLURM_URL ?? 'http://127.0.0.1:6820' }}",
              "with": [ { "headers": { "X-SLURM-USER-NAME": "${{ env.USER ?? 'root' }}",
                                       "X-SLURM-USER-TOKEN": "${{ secrets.SLURM_JWT }}" } } ]
            }
          },
          "stages": [
            { "id": "run", "kind": "compute", "service": "slurm",
              "submit": { "POST": "/slurm/${{ inputs.version }}/job/submit",
                          "json": { "script": "${{ text(inputs.script) }}",
                                    "job": { "name": "${{ job.key }}", "current_working_directory": "${{ inputs.directory }}",
                                             "environment": ["PATH=/usr/bin:/bin"] } },
                          "fail": [ { "when": "len(response.body.errors ?? parse('[]')) > 0",
                                      "message": "${{ response.body.errors[0].description ?? 'refused' }}" } ],
                          "capture": { "id": "$.job_id" },
                          "once": { "match": { "list": { "GET": "/slurm/${{ inputs.version }}/jobs" },
                                               "items": "$.jobs[*]", "where": "item.name == job.key" } } },
              "poll": [
                { "GET": "/slurm/${{ inputs.version }}/job/${{ self.id }}", "status": "$.jobs[0].job_state", "ignoreCase": true,
                  "missing": "response.status == 404 || len(response.body.jobs ?? parse('[]')) == 0",
                  "running": ["PENDING", "RUNNING", "COMPLETING", "CONFIGURING", "SUSPENDED", "REQUEUED", "REQUEUE_HOLD"],
                  "succeeded": ["COMPLETED"], "cancelled": ["CANCELLED"],
                  "failed": ["FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "TIMEOUT", "DEADLINE", "BOOT_FAIL", "PREEMPTED", "REVOKED"],
                  "message": "$.jobs[0].state_reason" },
                { "GET": "/slurmdb/${{ inputs.version }}/job/${{ self.id }}", "status": "$.jobs[0].state.current",
                  "ignoreCase": true, "running": ["PENDING", "RUNNING", "COMPLETING", "REQUEUED"],
                  "succeeded": ["COMPLETED"], "cancelled": ["CANCELLED"],
                  "failed": ["FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "TIMEOUT", "DEADLINE", "BOOT_FAIL", "PREEMPTED", "REVOKED"],
                  "message": "$.jobs[0].state.reason" }
              ],
              "cancel": { "DELETE": "/slurm/${{ inputs.version }}/job/${{ self.id }}" } }
          ]
        }

        """##
}
