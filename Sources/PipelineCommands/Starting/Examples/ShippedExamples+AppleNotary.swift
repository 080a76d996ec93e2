// Written by `RECORD=1 swift test --filter StartingTests` from the folder Pipelines.

extension ShippedExamples {
    static let appleNotary = ##"""
        {
          "$schema": "./pipeline.schema.json",
          "pipeline": 1,
          "name": "apple-notary",
          "description": "Apple's notary service: submit an app, upload it to the place that is named, wait, keep the log.",
          "inputs": {
            "app":    { "type": "file", "description": "a .zip, .dmg or .pkg, signed" },
            "issuer": { "type": "string", "description": "issuer ID of the App Store Connect key" },
            "keyID":  { "type": "string" }
          },
          "services": {
            "apple": {
              "url": "${{ env.NOTARY_URL ?? 'https://appstoreconnect.apple.com' }}/notary/v2",
              "with": [ { "jwt": { "algorithm": "ES256", "key": "${{ secrets.APPLE_KEY }}", "keyID": "${{ inputs.keyID }}",
                                   "claims": { "iss": "${{ inputs.issuer }}", "aud": "appstoreconnect-v1" } } } ]
            }
          },
          "stages": [
            { "id": "submission", "kind": "request", "service": "apple",
              "request": { "POST": "/submissions", "once": { "resend": true },
                           "json": { "submissionName": "${{ basename(inputs.app) }}", "sha256": "${{ digest(inputs.app) }}" } },
              "capture": { "id": "$.data.id", "bucket": "$.data.attributes.bucket", "object": "$.data.attributes.object",
                           "accessKey": "$.data.attributes.awsAccessKeyId",
                           "secretKey": { "select": "$.data.attributes.awsSecretAccessKey", "secret": true },
                           "token": { "select": "$.data.attributes.awsSessionToken", "secret": true } } },

            { "id": "upload", "kind": "upload", "protocol": "s3", "file": "${{ inputs.app }}",
              "request": { "PUT": "${{ env.NOTARY_S3_URL ?? 'https://s3.us-west-2.amazonaws.com' }}/${{ stages.submission.bucket }}/${{ stages.submission.object }}",
                           "credentials": "any-origin",
                           "with": [ { "sigv4": { "region": "us-west-2", "service": "s3", "accessKey": "${{ stages.submission.accessKey }}",
                                                  "secretKey": "${{ stages.submission.secretKey }}",
                                                  "sessionToken": "${{ stages.submission.token }}" } } ] } },

            { "id": "notarize", "kind": "compute", "service": "apple", "needs": ["upload"],
              "poll": { "GET": "/submissions/${{ stages.submission.id }}", "status": "$.data.attributes.status",
                        "running": ["In Progress"], "succeeded": ["Accepted"], "failed": ["Invalid", "Rejected"] },
              "estimate": "3m", "deadline": "1d" },

            { "id": "place", "kind": "request", "service": "apple", "needs": ["notarize"],
              "request": { "GET": "/submissions/${{ stages.submission.id }}/logs" },
              "capture": { "log": "$.data.attributes.developerLogUrl" } },

            { "id": "log", "kind": "download", "to": "${{ stem(inputs.app) }}.notary.json",
              "request": { "GET": "${{ stages.place.log }}", "credentials": "none" } }
          ]
        }

        """##
}
