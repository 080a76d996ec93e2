// Written by `RECORD=1 swift test --filter StartingTests` from the folder Pipelines.

extension ShippedExamples {
    static let ga4ghWes = ##"""
        {
          "$schema": "./pipeline.schema.json",
          "pipeline": 1,
          "name": "ga4gh-wes",
          "description": "GA4GH Workflow Execution Service 1.1: a workflow goes along in a form; its outputs as a file.",
          "inputs": {
            "workflow":   { "type": "file" },
            "parameters": { "type": "json", "default": {} },
            "type":       { "type": "string", "default": "WDL" },
            "version":    { "type": "string", "default": "1.0" }
          },
          "services": {
            "wes": {
              "url": "${{ env.WES_URL ?? 'http://127.0.0.1:8080' }}/ga4gh/wes/v1",
              "with": [ { "bearer": "${{ secrets.WES_TOKEN ?? 'none' }}" } ]
            }
          },
          "stages": [
            { "id": "run", "kind": "compute", "service": "wes",
              "submit": { "POST": "/runs", "capture": { "id": "$.run_id" },
                          "with": [ { "multipart": {
                            "fields": { "workflow_params": "${{ json(inputs.parameters) }}",
                                        "workflow_type": "${{ inputs.type }}",
                                        "workflow_type_version": "${{ inputs.version }}",
                                        "workflow_url": "${{ basename(inputs.workflow) }}",
                                        "tags": "{\"pipeline\": \"${{ job.key }}\"}" },
                            "files": [ { "name": "workflow_attachment", "file": "${{ inputs.workflow }}",
                                         "filename": "${{ basename(inputs.workflow) }}" } ] } } ],
                          "once": { "match": { "list": { "GET": "/runs", "query": { "page_size": 100 },
                                                         "paginate": { "next": { "cursor": "$.next_page_token", "param": "page_token" } } },
                                               "items": "$.runs[*]", "where": "item.tags.pipeline == job.key" } } },
              "poll": { "GET": "/runs/${{ self.id }}/status", "status": "$.state",
                        "succeeded": ["COMPLETE"], "failed": ["EXECUTOR_ERROR", "SYSTEM_ERROR", "PREEMPTED"],
                        "cancelled": ["CANCELED"] },
              "cancel": { "POST": "/runs/${{ self.id }}/cancel" } },

            { "id": "outputs", "kind": "request", "service": "wes",
              "request": { "GET": "/runs/${{ stages.run.id }}" }, "capture": { "outputs": "$.outputs" } },

            { "id": "keep", "kind": "write", "json": "${{ stages.outputs.outputs }}",
              "to": "${{ stem(inputs.workflow) }}.outputs.json" }
          ]
        }

        """##
}
