// Written by `RECORD=1 swift test --filter StartingTests` from the folder Pipelines.

extension ShippedExamples {
    static let jenkins = ##"""
        {
          "$schema": "./pipeline.schema.json",
          "pipeline": 1,
          "name": "jenkins",
          "description": "Jenkins: queue a build, follow it from the queue to its end, download its artifacts.",
          "inputs": {
            "job":        { "type": "string", "description": "name of the job there" },
            "parameters": { "type": "json", "default": {} }
          },
          "services": {
            "jenkins": {
              "url": "${{ env.JENKINS_URL ?? 'http://127.0.0.1:8080' }}",
              "with": [ { "basic": { "user": "${{ secrets.JENKINS_USER }}", "password": "${{ secrets.JENKINS_TOKEN }}" } } ]
            }
          },
          "stages": [
            { "id": "queue", "kind": "compute", "service": "jenkins",
              "submit": { "POST": "/job/${{ urlencode(inputs.job) }}/buildWithParameters",
                          "form": { "json": "${{ json(inputs.parameters) }}", "PIPELINE_KEY": "${{ job.key }}" },
                          "capture": { "item": "header:Location" } },
              "poll": { "GET": "${{ self.item }}api/json", "until": "response.body.executable != null",
                        "failWhen": "response.body.cancelled == true", "message": "$.why",
                        "capture": { "build": { "select": "$.executable.url", "url": true } } },
              "estimate": "10s" },

            { "id": "build", "kind": "compute", "service": "jenkins",
              "poll": { "GET": "${{ stages.queue.build }}api/json", "status": ["$.result", "$.building"],
                        "running": [true], "succeeded": ["SUCCESS"], "failed": ["FAILURE", "UNSTABLE", "NOT_BUILT"],
                        "cancelled": ["ABORTED"], "capture": { "paths": "$.artifacts[*].relativePath[]" } },
              "cancel": { "POST": "${{ stages.queue.build }}stop" } },

            { "id": "files", "kind": "download", "service": "jenkins", "forEach": "stages.build.paths",
              "request": { "GET": "${{ stages.queue.build }}artifact/${{ item }}" }, "to": "${{ basename(item) }}" }
          ]
        }

        """##
}
