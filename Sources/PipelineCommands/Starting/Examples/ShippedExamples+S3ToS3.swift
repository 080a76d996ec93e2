// Written by `RECORD=1 swift test --filter StartingTests` from the folder Pipelines.

extension ShippedExamples {
    static let s3ToS3 = ##"""
        {
          "$schema": "./pipeline.schema.json",
          "pipeline": 1,
          "name": "s3-to-s3",
          "description": "Takes objects from one S3 bucket to another, at whatever services they are: each down, then up.",
          "inputs": {
            "objects": { "type": "json", "description": "keys of the objects, an array of strings" },
            "from":    { "type": "string", "description": "bucket to read" },
            "to":      { "type": "string", "description": "bucket to write" }
          },
          "services": {
            "source": {
              "url": "${{ env.SOURCE_S3_URL ?? 'https://s3.eu-central-1.amazonaws.com' }}",
              "with": [ { "sigv4": { "region": "${{ env.SOURCE_REGION ?? 'eu-central-1' }}", "service": "s3",
                                     "accessKey": "${{ secrets.SOURCE_ACCESS_KEY }}", "secretKey": "${{ secrets.SOURCE_SECRET_KEY }}" } } ]
            },
            "target": {
              "url": "${{ env.TARGET_S3_URL ?? 'https://s3.us-east-1.amazonaws.com' }}",
              "with": [ { "sigv4": { "region": "${{ env.TARGET_REGION ?? 'us-east-1' }}", "service": "s3",
                                     "accessKey": "${{ secrets.TARGET_ACCESS_KEY }}", "secretKey": "${{ secrets.TARGET_SECRET_KEY }}" } } ]
            }
          },
          "stages": [
            { "id": "down", "kind": "download", "service": "source", "forEach": "inputs.objects", "concurrency": 4,
              "request": { "GET": "/${{ inputs.from }}/${{ urlencode(item) }}" },
              "to": "${{ string(index) }}-${{ basename(item) }}" },

            { "id": "up", "kind": "upload", "service": "target", "forEach": { "stage": "down" }, "concurrency": 4,
              "file": "${{ stages.down.path }}", "protocol": "s3",
              "request": { "PUT": "/${{ inputs.to }}/${{ urlencode(item) }}" } }
          ]
        }

        """##
}
