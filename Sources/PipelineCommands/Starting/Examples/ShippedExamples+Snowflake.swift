// Written by `RECORD=1 swift test --filter StartingTests` from the folder Pipelines.

extension ShippedExamples {
    static let snowflake = ##"""
        {
          "$schema": "./pipeline.schema.json",
          "pipeline": 1,
          "name": "snowflake",
          "description": "Snowflake: run a statement with a signed token, started once whatever happens; its rows as a file.",
          "inputs": {
            "account":     { "type": "string", "description": "ORG-ACCOUNT" },
            "user":        { "type": "string" },
            "fingerprint": { "type": "string", "description": "of the public key: SHA256:…" },
            "statement":   { "type": "string" },
            "warehouse":   { "type": "string", "default": "COMPUTE_WH" }
          },
          "services": {
            "snowflake": {
              "url": "${{ env.SNOWFLAKE_URL ?? 'https://' + inputs.account + '.snowflakecomputing.com' }}/api/v2",
              "with": [ { "jwt": { "algorithm": "RS256", "key": "${{ secrets.SNOWFLAKE_KEY }}", "lifetime": "59m", "claims": {
                          "iss": "${{ upper(inputs.account) + '.' + upper(inputs.user) + '.' + inputs.fingerprint }}",
                          "sub": "${{ upper(inputs.account) + '.' + upper(inputs.user) }}" } } },
                        { "headers": { "X-Snowflake-Authorization-Token-Type": "KEYPAIR_JWT", "Accept": "application/json" } } ]
            }
          },
          "stages": [
            { "id": "query", "kind": "compute", "service": "snowflake",
              "submit": { "POST": "/statements", "query": { "async": true, "requestId": "${{ self.key }}", "retry": true },
                          "json": { "statement": "${{ inputs.statement }}", "warehouse": "${{ inputs.warehouse }}" },
                          "once": { "key": true }, "capture": { "handle": "$.statementHandle" } },
              "poll": { "GET": "/statements/${{ self.handle }}", "expect": [200, 202], "until": "response.status == 200",
                        "failWhen": "response.status == 422", "message": "$.message",
                        "capture": { "rows": "$.data" } },
              "cancel": { "POST": "/statements/${{ self.handle }}/cancel" } },

            { "id": "rows", "kind": "write", "to": "rows.json", "json": "${{ stages.query.rows }}" }
          ]
        }

        """##
}
