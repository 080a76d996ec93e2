// Written by `RECORD=1 swift test --filter StartingTests` from the folder Pipelines.

extension ShippedExamples {
    static let assemblyai = ##"""
        {
          "$schema": "./pipeline.schema.json",
          "pipeline": 1,
          "name": "assemblyai",
          "description": "AssemblyAI: transcribe a recording; the text and subtitles as files.",
          "inputs": {
            "recording": { "type": "file" },
            "language":  { "type": "string", "default": "en" }
          },
          "services": {
            "assemblyai": {
              "url": "${{ env.ASSEMBLYAI_URL ?? 'https://api.assemblyai.com' }}",
              "with": [ { "apiKey": { "header": "Authorization", "value": "${{ secrets.ASSEMBLYAI_API_KEY }}" } } ]
            }
          },
          "stages": [
            { "id": "upload", "kind": "upload", "service": "assemblyai",
              "file": "${{ inputs.recording }}", "protocol": "put",
              "request": { "POST": "/v2/upload" },
              "capture": { "url": "$.upload_url" } },

            { "id": "transcript", "kind": "compute", "service": "assemblyai",
              "submit": { "POST": "/v2/transcript", "capture": { "id": "$.id" },
                          "json": { "audio_url": "${{ stages.upload.url }}", "language_code": "${{ inputs.language }}" } },
              "poll": { "GET": "/v2/transcript/${{ self.id }}", "status": "$.status",
                        "succeeded": ["completed"], "failed": ["error"], "message": "$.error",
                        "capture": { "text": "$.text" } } },

            { "id": "text", "kind": "write", "text": "${{ stages.transcript.text }}",
              "to": "${{ stem(inputs.recording) }}.txt" },

            { "id": "subtitles", "kind": "download", "service": "assemblyai", "needs": ["transcript"],
              "request": { "GET": "/v2/transcript/${{ stages.transcript.id }}/srt" },
              "to": "${{ stem(inputs.recording) }}.srt" }
          ]
        }

        """##
}
