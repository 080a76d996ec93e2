// Written by `RECORD=1 swift test --filter StartingTests` from the folder Pipelines.

extension ShippedExamples {
    static let cloudflareStream = ##"""
        {
          "$schema": "./pipeline.schema.json",
          "pipeline": 1,
          "name": "cloudflare-stream",
          "description": "Cloudflare Stream: upload a video by tus, find it by its name until it is ready, keep its address.",
          "inputs": {
            "video":   { "type": "file" },
            "account": { "type": "string" }
          },
          "services": {
            "stream": {
              "url": "${{ env.CLOUDFLARE_URL ?? 'https://api.cloudflare.com' }}/client/v4/accounts/${{ inputs.account }}",
              "with": [ { "bearer": "${{ secrets.CLOUDFLARE_TOKEN }}" } ]
            }
          },
          "stages": [
            { "id": "upload", "kind": "upload", "service": "stream", "protocol": "tus", "file": "${{ inputs.video }}", "partSize": "50MiB",
              "request": { "POST": "/stream", "headers": { "Upload-Metadata": "name ${{ base64(job.key) }}" } } },

            { "id": "encode", "kind": "compute", "service": "stream", "needs": ["upload"],
              "poll": { "GET": "/stream", "query": { "search": "${{ job.key }}" },
                        "find": { "items": "$.result[*]", "where": "item.meta.name == job.key" }, "status": "$.status.state",
                        "running": ["pendingupload", "downloading", "queued", "inprogress"], "succeeded": ["ready"],
                        "failed": ["error"], "progress": "$.status.pctComplete", "message": "$.status.errorReasonText",
                        "capture": { "id": "$.uid", "playback": "$.playback.hls" } },
              "estimate": "2m" },

            { "id": "address", "kind": "write", "to": "${{ stem(inputs.video) }}.json",
              "json": { "id": "${{ stages.encode.id }}", "hls": "${{ stages.encode.playback }}" } }
          ]
        }

        """##
}
