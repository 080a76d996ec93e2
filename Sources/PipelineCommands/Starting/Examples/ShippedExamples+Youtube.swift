// Written by `RECORD=1 swift test --filter StartingTests` from the folder Pipelines.

extension ShippedExamples {
    static let youtube = ##"""
        {
          "$schema": "./pipeline.schema.json",
          "pipeline": 1,
          "name": "youtube",
          "description": "YouTube: upload a video for a person, resumably, and wait until it has been processed.",
          "inputs": {
            "video":   { "type": "file" },
            "title":   { "type": "string" },
            "privacy": { "type": "string", "enum": ["private", "unlisted", "public"], "default": "private" }
          },
          "services": {
            "youtube": {
              "url": "${{ env.YOUTUBE_URL ?? 'https://www.googleapis.com' }}",
              "with": [ { "oauth2": { "tokenURL": "${{ env.GOOGLE_TOKEN_URL ?? 'https://oauth2.googleapis.com/token' }}",
                                      "clientID": "${{ secrets.GOOGLE_CLIENT_ID }}", "clientSecret": "${{ secrets.GOOGLE_CLIENT_SECRET }}",
                                      "refreshToken": "${{ secrets.YOUTUBE_REFRESH_TOKEN }}" } } ]
            }
          },
          "stages": [
            { "id": "upload", "kind": "upload", "service": "youtube", "protocol": "gcs", "file": "${{ inputs.video }}",
              "request": { "POST": "/upload/youtube/v3/videos", "query": { "uploadType": "resumable", "part": "snippet,status" },
                           "json": { "snippet": { "title": "${{ inputs.title }}" }, "status": { "privacyStatus": "${{ inputs.privacy }}" } } },
              "capture": { "id": "$.id" } },

            { "id": "processing", "kind": "compute", "service": "youtube",
              "poll": { "GET": "/youtube/v3/videos", "query": { "part": "processingDetails", "id": "${{ stages.upload.id }}" },
                        "find": { "items": "$.items[*]", "where": "item.id == stages.upload.id" },
                        "status": "$.processingDetails.processingStatus", "running": ["processing"], "succeeded": ["succeeded"],
                        "failed": ["failed", "terminated"], "message": "$.processingDetails.processingFailureReason",
                        "progress": { "done": "$.processingDetails.processingProgress.partsProcessed",
                                      "total": "$.processingDetails.processingProgress.partsTotal" } },
              "estimate": "5m" },

            { "id": "address", "kind": "write", "needs": ["processing"], "to": "${{ stem(inputs.video) }}.txt",
              "text": "https://youtu.be/${{ stages.upload.id }}" }
          ]
        }

        """##
}
