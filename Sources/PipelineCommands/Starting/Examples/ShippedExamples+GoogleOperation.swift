// Written by `RECORD=1 swift test --filter StartingTests` from the folder Pipelines.

extension ShippedExamples {
    static let googleOperation = ##"""
        {
          "$schema": "./pipeline.schema.json",
          "pipeline": 1,
          "name": "google-operation",
          "description": "A Google long-running operation (AIP-151) on a file that goes to Cloud Storage resumably.",
          "inputs": {
            "recording": { "type": "file" },
            "bucket":    { "type": "string" }
          },
          "services": {
            "storage": {
              "url": "${{ env.GOOGLE_STORAGE_URL ?? 'https://storage.googleapis.com' }}",
              "with": [ { "bearer": "${{ secrets.GOOGLE_TOKEN }}" } ]
            },
            "speech": {
              "url": "${{ env.GOOGLE_SPEECH_URL ?? 'https://speech.googleapis.com' }}",
              "with": [ { "bearer": "${{ secrets.GOOGLE_TOKEN }}" } ]
            }
          },
          "stages": [
            { "id": "upload", "kind": "upload", "service": "storage", "protocol": "gcs",
              "file": "${{ inputs.recording }}",
              "request": { "POST": "/upload/storage/v1/b/${{ inputs.bucket }}/o",
                           "query": { "uploadType": "resumable", "name": "${{ job.key }}/${{ basename(inputs.recording) }}" } },
              "capture": { "name": "$.name" } },

            { "id": "recognize", "kind": "compute", "service": "speech",
              "submit": { "POST": "/v1/speech:longrunningrecognize", "capture": { "name": "$.name" },
                          "json": { "config": { "languageCode": "en-US" },
                                    "audio": { "uri": "gs://${{ inputs.bucket }}/${{ stages.upload.name }}" } } },
              "poll": { "GET": "/v1/operations/${{ self.name }}",
                        "failWhen": "response.body.done == true && response.body.error != null",
                        "until": "response.body.done == true",
                        "progress": "$.metadata.progressPercent", "message": "$.error.message",
                        "capture": { "text": "$.response.results[*].alternatives[0].transcript[]" } },
              "cancel": { "POST": "/v1/operations/${{ self.name }}:cancel" } },

            { "id": "text", "kind": "write", "text": "${{ join(stages.recognize.text, ' ') }}",
              "to": "${{ stem(inputs.recording) }}.txt" }
          ]
        }

        """##
}
