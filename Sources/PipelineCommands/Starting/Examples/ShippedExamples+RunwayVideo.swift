// Written by `RECORD=1 swift test --filter StartingTests` from the folder Pipelines.

extension ShippedExamples {
    static let runwayVideo = ##"""
        {
          "$schema": "./pipeline.schema.json",
          "pipeline": 1,
          "name": "runway-video",
          "description": "A video from a picture, as Runway does it: a task, polled slowly, whose output is a list of URLs.",
          "inputs": {
            "picture": { "type": "string", "description": "https URL of the first frame" },
            "prompt":  { "type": "string", "default": "the camera moves slowly forward" },
            "seconds": { "type": "number", "default": 5 }
          },
          "services": {
            "runway": {
              "url": "${{ env.RUNWAY_URL ?? 'https://api.dev.runwayml.com' }}",
              "with": [ { "bearer": "${{ secrets.RUNWAY_API_KEY }}" }, { "headers": { "X-Runway-Version": "2024-11-06" } } ],
              "limits": { "requestsPerSecond": 2 }
            }
          },
          "stages": [
            { "id": "video", "kind": "compute", "service": "runway", "estimate": "2m", "deadline": "1h",
              "submit": { "POST": "/v1/image_to_video", "capture": { "id": "$.id" },
                          "json": { "model": "gen4_turbo", "promptImage": "${{ inputs.picture }}",
                                    "promptText": "${{ inputs.prompt }}", "duration": "${{ inputs.seconds }}",
                                    "ratio": "1280:720" } },
              "poll": { "GET": "/v1/tasks/${{ self.id }}", "status": "$.status", "first": "5s",
                        "running": ["PENDING", "THROTTLED", "RUNNING"], "succeeded": ["SUCCEEDED"],
                        "failed": ["FAILED"], "cancelled": ["CANCELLED"], "message": ["$.failure", "$.failureCode"],
                        "capture": { "files": "$.output[*][]" } },
              "cancel": { "DELETE": "/v1/tasks/${{ self.id }}" } },

            { "id": "download", "kind": "download", "forEach": "stages.video.files",
              "request": { "GET": "${{ item }}", "credentials": "none" },
              "to": "video-${{ string(index) }}.mp4" }
          ]
        }

        """##
}
