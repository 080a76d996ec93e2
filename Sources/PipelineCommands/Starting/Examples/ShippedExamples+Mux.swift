// Written by `RECORD=1 swift test --filter StartingTests` from the folder Pipelines.

extension ShippedExamples {
    static let mux = ##"""
        {
          "$schema": "./pipeline.schema.json",
          "pipeline": 1,
          "name": "mux",
          "description": "Mux: a direct upload, then the asset that the service makes of it, until it is ready to play.",
          "inputs": {
            "video":  { "type": "file" },
            "policy": { "type": "string", "enum": ["public", "signed"], "default": "public" }
          },
          "services": {
            "mux": {
              "url": "${{ env.MUX_URL ?? 'https://api.mux.com' }}",
              "with": [ { "basic": { "user": "${{ secrets.MUX_TOKEN_ID }}", "password": "${{ secrets.MUX_TOKEN_SECRET }}" } } ]
            }
          },
          "stages": [
            { "id": "slot", "kind": "request", "service": "mux",
              "request": { "POST": "/video/v1/uploads", "once": { "resend": true },
                           "json": { "timeout": 86400,
                                     "new_asset_settings": { "playback_policy": ["${{ inputs.policy }}"],
                                                             "passthrough": "${{ job.key }}" } } },
              "capture": { "id": "$.data.id", "url": { "select": "$.data.url", "secret": true } } },

            { "id": "upload", "kind": "upload", "file": "${{ inputs.video }}", "protocol": "gcs",
              "request": { "PUT": "${{ stages.slot.url }}", "credentials": "none" } },

            { "id": "taken", "kind": "compute", "service": "mux",
              "poll": { "GET": "/video/v1/uploads/${{ stages.slot.id }}", "status": "$.data.status", "ignoreCase": true,
                        "running": ["waiting"], "succeeded": ["asset_created"], "failed": ["errored", "timed_out"],
                        "cancelled": ["cancelled"], "message": "$.data.error.message",
                        "capture": { "asset": "$.data.asset_id" } },
              "cancel": { "PUT": "/video/v1/uploads/${{ stages.slot.id }}/cancel" } },

            { "id": "asset", "kind": "compute", "service": "mux",
              "poll": { "GET": "/video/v1/assets/${{ stages.taken.asset }}", "status": "$.data.status",
                        "running": ["preparing"], "succeeded": ["ready"], "failed": ["errored"],
                        "message": "$.data.errors.messages",
                        "capture": { "playback": "$.data.playback_ids[0].id", "duration": "$.data.duration?" } } },

            { "id": "playback", "kind": "write", "to": "${{ stem(inputs.video) }}.mux.json",
              "json": { "asset": "${{ stages.taken.asset }}", "duration?": "${{ stages.asset.duration }}",
                        "url": "https://stream.mux.com/${{ stages.asset.playback }}.m3u8" } }
          ]
        }

        """##
}
