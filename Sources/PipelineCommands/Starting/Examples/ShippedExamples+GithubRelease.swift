// Written by `RECORD=1 swift test --filter StartingTests` from the folder Pipelines.

extension ShippedExamples {
    static let githubRelease = ##"""
        {
          "$schema": "./pipeline.schema.json",
          "pipeline": 1,
          "name": "github-release",
          "description": "GitHub: list the assets of a release page by page, download those that match, verified where it says how.",
          "inputs": {
            "repository": { "type": "string", "pattern": "^[^/]+/[^/]+$", "description": "OWNER/NAME" },
            "tag":        { "type": "string", "default": "latest" },
            "suffix":     { "type": "string", "default": "", "description": "only files whose names end so" }
          },
          "services": {
            "github": {
              "url": "${{ env.GITHUB_API_URL ?? 'https://api.github.com' }}",
              "with": [ { "bearer": "${{ secrets.GITHUB_TOKEN ?? '' }}" }, { "headers": { "X-GitHub-Api-Version": "2022-11-28" } } ]
            }
          },
          "stages": [
            { "id": "release", "kind": "request", "service": "github",
              "request": { "GET": "/repos/${{ inputs.repository }}/releases/${{ inputs.tag == 'latest' ? 'latest' : 'tags/' + inputs.tag }}",
                           "with": [ { "cache": { "maxAge": "1m", "staleIfOffline": "7d" } } ] },
              "capture": { "id": "$.id" } },

            { "id": "assets", "kind": "request", "service": "github",
              "request": { "GET": "/repos/${{ inputs.repository }}/releases/${{ stages.release.id }}/assets",
                           "query": { "per_page": 100 } },
              "paginate": { "items": "$[*]", "next": { "link": "next" } },
              "capture": { "all": "$items[]" } },

            { "id": "files", "kind": "download", "service": "github", "concurrency": 3,
              "forEach": "stages.assets.all[0]", "when": "endsWith(item.name, inputs.suffix)",
              "request": { "GET": "/repos/${{ inputs.repository }}/releases/assets/${{ item.id }}",
                           "headers": { "Accept": "application/octet-stream" } },
              "to": "${{ item.name }}",
              "verify": { "size": "${{ item.size }}", "sha256": "${{ item.digest == null ? null : replace(item.digest, 'sha256:', '') }}" } }
          ]
        }

        """##
}
