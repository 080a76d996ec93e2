// Written by `RECORD=1 swift test --filter StartingTests` from the folder Pipelines.

extension ShippedExamples {
    static let kubernetesJob = ##"""
        {
          "$schema": "./pipeline.schema.json",
          "pipeline": 1,
          "name": "kubernetes-job",
          "description": "A Kubernetes Job: made under a name of ours, watched by its conditions, removed in the end.",
          "inputs": {
            "image":     { "type": "string", "default": "busybox" },
            "command":   { "type": "json", "default": ["sh", "-c", "echo done"] },
            "namespace": { "type": "string", "default": "default" }
          },
          "services": {
            "cluster": {
              "url": "${{ env.KUBERNETES_URL ?? 'http://127.0.0.1:8001' }}/apis/batch/v1",
              "with": [ { "bearer": "${{ secrets.KUBERNETES_TOKEN ?? 'none' }}" } ]
            }
          },
          "stages": [
            { "id": "run", "kind": "compute", "service": "cluster",
              "submit": { "POST": "/namespaces/${{ inputs.namespace }}/jobs",
                          "json": { "apiVersion": "batch/v1", "kind": "Job",
                                    "metadata": { "name": "pipeline-${{ job.key }}",
                                                  "labels": { "pipeline-key": "${{ job.key }}" } },
                                    "spec": { "backoffLimit": 3, "ttlSecondsAfterFinished": 86400,
                                              "template": { "spec": { "restartPolicy": "Never",
                                                "containers": [ { "name": "main", "image": "${{ inputs.image }}",
                                                                  "command": "${{ inputs.command }}" } ] } } } },
                          "capture": { "name": "$.metadata.name", "uid": "$.metadata.uid" },
                          "once": { "name": { "GET": "/namespaces/${{ inputs.namespace }}/jobs/pipeline-${{ job.key }}" },
                                    "ours": "response.body.metadata.labels['pipeline-key'] == job.key" } },
              "poll": { "GET": "/namespaces/${{ inputs.namespace }}/jobs/${{ self.name }}",
                        "status": "$.status.conditions[?@.status == 'True'].type",
                        "succeeded": ["Complete", "SuccessCriteriaMet"], "failed": ["Failed", "FailureTarget"],
                        "failWhen": "response.body.metadata.uid != self.uid",
                        "message": "$.status.conditions[?@.type == 'Failed'].message",
                        "progress": { "done": "$.status.succeeded", "total": "$.spec.completions" } },
              "cancel": { "DELETE": "/namespaces/${{ inputs.namespace }}/jobs/${{ self.name }}",
                          "query": { "propagationPolicy": "Background" } } }
          ],
          "finally": [
            { "id": "remove", "kind": "request", "service": "cluster", "when": "stages.run.name != null",
              "request": { "DELETE": "/namespaces/${{ inputs.namespace }}/jobs/${{ stages.run.name ?? '' }}",
                           "query": { "propagationPolicy": "Background" }, "expect": ["2xx", 404] } }
          ]
        }

        """##
}
