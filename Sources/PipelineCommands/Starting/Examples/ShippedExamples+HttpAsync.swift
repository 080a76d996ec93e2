// Written by `RECORD=1 swift test --filter StartingTests` from the folder Pipelines.

extension ShippedExamples {
    static let httpAsync = ##"""
        {
          "$schema": "./pipeline.schema.json",
          "pipeline": 1,
          "name": "http-async",
          "description": "Plain HTTP: 202 and Location say where to ask, 303 or any other 2xx is the end (RFC 7240, RFC 9110).",
          "inputs": {
            "order": { "type": "json", "default": {} }
          },
          "services": { "api": { "url": "${{ env.API_URL ?? 'http://127.0.0.1:8080' }}" } },
          "stages": [
            { "id": "work", "kind": "compute", "service": "api",
              "submit": { "POST": "/work", "json": "${{ inputs.order }}", "with": [ { "prefer": ["respond-async", "wait=10"] } ],
                          "once": { "key": "Idempotency-Key", "quoted": true } },
              "capture": { "result": "$" } },

            { "id": "keep", "kind": "write", "json": "${{ stages.work.result }}", "to": "result.json" }
          ]
        }

        """##
}
