// Written by `RECORD=1 swift test --filter StartingTests` from the folder Pipelines.

extension ShippedExamples {
    static let awsTranscribe = ##"""
        {
          "$schema": "./pipeline.schema.json",
          "pipeline": 1,
          "name": "aws-transcribe",
          "description": "AWS Transcribe: the recording goes to S3, the job has a name of ours, the transcript comes from S3.",
          "inputs": {
            "recording": { "type": "file" },
            "bucket":    { "type": "string" },
            "region":    { "type": "string", "default": "eu-central-1" },
            "language":  { "type": "string", "default": "en-US" }
          },
          "services": {
            "s3": {
              "url": "${{ env.S3_URL ?? 'https://s3.' + inputs.region + '.amazonaws.com' }}",
              "with": [ { "sigv4": { "region": "${{ inputs.region }}", "service": "s3",
                                     "accessKey": "${{ secrets.AWS_ACCESS_KEY_ID }}",
                                     "secretKey": "${{ secrets.AWS_SECRET_ACCESS_KEY }}" } } ]
            },
            "transcribe": {
              "url": "${{ env.TRANSCRIBE_URL ?? 'https://transcribe.' + inputs.region + '.amazonaws.com' }}",
              "with": [ { "sigv4": { "region": "${{ inputs.region }}", "service": "transcribe",
                                     "accessKey": "${{ secrets.AWS_ACCESS_KEY_ID }}",
                                     "secretKey": "${{ secrets.AWS_SECRET_ACCESS_KEY }}" } },
                        { "headers": { "Content-Type": "application/x-amz-json-1.1" } } ]
            }
          },
          "stages": [
            { "id": "upload", "kind": "upload", "service": "s3", "protocol": "s3", "parallel": 4,
              "file": "${{ inputs.recording }}",
              "request": { "PUT": "/${{ inputs.bucket }}/${{ job.key }}/${{ urlencode(basename(inputs.recording)) }}" } },

            { "id": "transcript", "kind": "compute", "service": "transcribe",
              "submit": { "POST": "/", "headers": { "X-Amz-Target": "Transcribe.StartTranscriptionJob" },
                          "json": { "TranscriptionJobName": "${{ job.key }}", "LanguageCode": "${{ inputs.language }}",
                                    "OutputBucketName": "${{ inputs.bucket }}", "OutputKey": "${{ job.key }}/transcript.json",
                                    "Tags": [ { "Key": "pipeline", "Value": "${{ job.key }}" } ],
                                    "Media": { "MediaFileUri": "s3://${{ inputs.bucket }}/${{ job.key }}/${{ urlencode(basename(inputs.recording)) }}" } },
                          "once": { "name": { "POST": "/", "json": { "TranscriptionJobName": "${{ job.key }}" },
                                              "headers": { "X-Amz-Target": "Transcribe.GetTranscriptionJob" } },
                                    "missing": "response.status == 400 && contains(string(response.body.__type), 'NotFound')",
                                    "ours": "response.body.TranscriptionJob.Tags[0].Value == job.key" } },
              "poll": { "POST": "/", "json": { "TranscriptionJobName": "${{ job.key }}" },
                        "headers": { "X-Amz-Target": "Transcribe.GetTranscriptionJob" },
                        "status": "$.TranscriptionJob.TranscriptionJobStatus", "running": ["QUEUED", "IN_PROGRESS"],
                        "succeeded": ["COMPLETED"], "failed": ["FAILED"], "message": "$.TranscriptionJob.FailureReason" } },

            { "id": "download", "kind": "download", "service": "s3",
              "needs": ["transcript"],
              "request": { "GET": "/${{ inputs.bucket }}/${{ job.key }}/transcript.json" },
              "to": "${{ stem(inputs.recording) }}.json" }
          ]
        }

        """##
}
