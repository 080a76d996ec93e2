// Written by `RECORD=1 swift test --filter StartingTests` from the folder Pipelines.

extension ShippedExamples {
    static let githubActions = ##"""
        {
          "$schema": "./pipeline.schema.json",
          "pipeline": 1,
          "name": "github-actions",
          "description": "GitHub Actions: start a workflow, find its run by its name, download its artifacts.",
          // The workflow says: run-name: ${{ inputs.key }}, so that its run can be told from others.
          "inputs": {
            "repository": { "type": "string", "pattern": "^[^/]+/[^/]+$", "description": "OWNER/NAME" },
            "workflow":   { "type": "string", "description": "file name, such as build.yml" },
            "ref":        { "type": "string", "default": "main" }
          },
          "services": {
            "github": {
              "url": "${{ env.GITHUB_API_URL ?? 'https://api.github.com' }}/repos/${{ inputs.repository }}",
              "with": [ { "bearer": "${{ secrets.GITHUB_TOKEN }}" }, { "headers": { "X-GitHub-Api-Version": "2022-11-28" } } ]
            }
          },
          "stages": [
            { "id": "run", "kind": "compute", "service": "github",
              "submit": { "POST": "/actions/workflows/${{ inputs.workflow }}/dispatches",
                          "json": { "ref": "${{ inputs.ref }}", "inputs": { "key": "${{ job.key }}" } },
                          "once": { "match": { "list": { "GET": "/actions/runs", "query": { "event": "workflow_dispatch" } },
                                               "items": "$.workflow_runs[*]", "where": "item.display_title == job.key" } } },
              "poll": { "GET": "/actions/runs", "query": { "event": "workflow_dispatch", "per_page": 100 },
                        "find": { "items": "$.workflow_runs[*]", "where": "item.display_title == job.key" },
                        "status": ["$.conclusion", "$.status"],
                        "running": ["queued", "requested", "waiting", "pending", "in_progress"], "succeeded": ["success"],
                        "failed": ["failure", "timed_out", "startup_failure", "action_required"], "cancelled": ["cancelled"],
                        "capture": { "id": "$.id" } } },

            { "id": "artifacts", "kind": "request", "service": "github",
              "request": { "GET": "/actions/runs/${{ stages.run.id }}/artifacts", "query": { "per_page": 100 } },
              "paginate": { "items": "$.artifacts[*]", "next": { "link": "next" } },
              "capture": { "all": "$items" } },

            { "id": "files", "kind": "download", "service": "github", "forEach": "stages.artifacts.all",
              "request": { "GET": "/actions/artifacts/${{ item.id }}/zip" }, "to": "${{ item.name }}.zip" }
          ]
        }

        """##
}
