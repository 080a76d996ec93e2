// Written by `RECORD=1 swift test --filter StartingTests` from the folder Pipelines; not edited by hand.

/// The examples that the program carries, by name.
enum ShippedExamples {
    static let names = all.map(\.name)

    static func text(of name: String) -> String? { all.first { $0.name == name }?.text }

    private static let all: [(name: String, text: String)] = [
        (
            "anthropic-batch",
            ##"""
            {
              "$schema": "./pipeline.schema.json",
              "pipeline": 1,
              "name": "anthropic-batch",
              "description": "Anthropic Message Batches: the requests go inline, streamed from a file of JSON Lines.",
              "inputs": {
                "requests": { "type": "file", "description": "JSON Lines, each line with custom_id and params" }
              },
              "services": {
                "anthropic": {
                  "url": "${{ env.ANTHROPIC_URL ?? 'https://api.anthropic.com' }}",
                  "with": [ { "apiKey": { "header": "x-api-key", "value": "${{ secrets.ANTHROPIC_API_KEY }}" } },
                            { "headers": { "anthropic-version": "2023-06-01" } } ]
                }
              },
              "stages": [
                { "id": "batch", "kind": "compute", "service": "anthropic", "deadline": "25h",
                  "submit": { "POST": "/v1/messages/batches", "json": { "requests": "${{ jsonLines(inputs.requests) }}" },
                              "capture": { "id": "$.id" } },
                  "poll": { "GET": "/v1/messages/batches/${{ self.id }}", "status": "$.processing_status",
                            "running": ["in_progress", "canceling"], "succeeded": ["ended"],
                            "capture": { "url": "$.results_url", "errored": "$.request_counts.errored",
                                         "expired": "$.request_counts.expired" } },
                  "cancel": { "POST": "/v1/messages/batches/${{ self.id }}/cancel" },
                  "warn": [ { "when": "self.errored + self.expired > 0",
                              "message": "${{ self.errored + self.expired }} requests have no result" } ] },

                { "id": "results", "kind": "download", "service": "anthropic",
                  "request": { "GET": "${{ stages.batch.url }}" },
                  "to": "${{ stem(inputs.requests) }}.results.jsonl" }
              ]
            }

            """##
        ),
        (
            "assemblyai",
            ##"""
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
        ),
        (
            "aws-transcribe",
            ##"""
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
        ),
        (
            "azure-operation",
            ##"""
            {
              "$schema": "./pipeline.schema.json",
              "pipeline": 1,
              "name": "azure-operation",
              "description": "An Azure long-running operation: the answer's header says where to ask; the result is a resource.",
              "inputs": {
                "resource": { "type": "string", "description": "path of the resource, beginning with /" },
                "body":     { "type": "json", "default": {} },
                "tenant":   { "type": "string", "default": "common" }
              },
              "services": {
                "azure": {
                  "url": "${{ env.AZURE_URL ?? 'https://management.azure.com' }}",
                  "with": [ { "oauth2": {
                    "tokenURL": "${{ env.AZURE_LOGIN_URL ?? 'https://login.microsoftonline.com' }}/${{ inputs.tenant }}/oauth2/v2.0/token",
                    "clientID": "${{ secrets.AZURE_CLIENT_ID }}", "clientSecret": "${{ secrets.AZURE_CLIENT_SECRET }}",
                    "scope": "https://management.azure.com/.default" } } ]
                }
              },
              "stages": [
                { "id": "change", "kind": "compute", "service": "azure",
                  "submit": { "PUT": "${{ inputs.resource }}", "query": { "api-version": "2024-01-01" },
                              "json": "${{ inputs.body }}", "once": { "resend": true },
                              "capture": { "operation": ["header:Operation-Location", "header:Azure-AsyncOperation", "header:Location"] } },
                  "poll": { "GET": "${{ self.operation }}", "status": "$.status", "ignoreCase": true,
                            "succeeded": ["Succeeded"], "failed": ["Failed"], "cancelled": ["Canceled"],
                            "progress": "$.percentComplete", "message": "$.error.message" } },

                { "id": "result", "kind": "request", "service": "azure", "needs": ["change"],
                  "request": { "GET": "${{ inputs.resource }}", "query": { "api-version": "2024-01-01" } },
                  "to": "resource.json" }
              ]
            }

            """##
        ),
        (
            "cloudconvert",
            ##"""
            {
              "$schema": "./pipeline.schema.json",
              "pipeline": 1,
              "name": "cloudconvert",
              "description": "CloudConvert: the job is made first and says where to upload; then it runs and gives files.",
              "inputs": {
                "document": { "type": "file" },
                "format":   { "type": "string", "default": "pdf" }
              },
              "services": {
                "cloudconvert": {
                  "url": "${{ env.CLOUDCONVERT_URL ?? 'https://api.cloudconvert.com' }}",
                  "with": [ { "bearer": "${{ secrets.CLOUDCONVERT_API_KEY }}" } ]
                }
              },
              "stages": [
                { "id": "job", "kind": "request", "service": "cloudconvert",
                  "request": { "POST": "/v2/jobs",
                               "json": { "tag": "${{ job.key }}",
                                         "tasks": { "in":  { "operation": "import/upload" },
                                                    "to":  { "operation": "convert", "input": "in",
                                                             "output_format": "${{ inputs.format }}" },
                                                    "out": { "operation": "export/url", "input": "to" } } },
                               "once": { "match": { "list": { "GET": "/v2/jobs", "query": { "filter[tag]": "${{ job.key }}" } },
                                                    "items": "$.data[*]", "where": "item.tag == job.key",
                                                    "then": { "GET": "/v2/jobs/${{ item.id }}" } } } },
                  "capture": { "id": "$.data.id",
                               "form": "$.data.tasks[?@.operation == 'import/upload'].result.form.url",
                               "parameters": "$.data.tasks[?@.operation == 'import/upload'].result.form.parameters" } },

                { "id": "upload", "kind": "upload", "file": "${{ inputs.document }}", "protocol": "multipart",
                  "fields": "${{ stages.job.parameters }}",
                  "request": { "POST": "${{ stages.job.form }}", "credentials": "none" } },

                { "id": "convert", "kind": "compute", "service": "cloudconvert",
                  "poll": { "GET": "/v2/jobs/${{ stages.job.id }}", "status": "$.data.status",
                            "succeeded": ["finished"], "failed": ["error"],
                            "message": "$.data.tasks[?@.status == 'error'].message",
                            "capture": { "files": "$.data.tasks[?@.operation == 'export/url'].result.files[*].url[]" } },
                  "cancel": { "DELETE": "/v2/jobs/${{ stages.job.id }}" } },

                { "id": "results", "kind": "download", "forEach": "stages.convert.files",
                  "request": { "GET": "${{ item }}", "credentials": "none" }, "to": "./" }
              ]
            }

            """##
        ),
        (
            "fal",
            ##"""
            {
              "$schema": "./pipeline.schema.json",
              "pipeline": 1,
              "name": "fal",
              "description": "fal: queue a request to a model; where it stands is at one URL, what it made at another.",
              "inputs": {
                "model":  { "type": "string", "default": "fal-ai/flux/dev" },
                "prompt": { "type": "string", "default": "a lighthouse at dusk" }
              },
              "services": {
                "fal": {
                  "url": "${{ env.FAL_URL ?? 'https://queue.fal.run' }}",
                  "with": [ { "headers": { "Authorization": "Key ${{ secrets.FAL_KEY }}" } } ]
                }
              },
              "stages": [
                { "id": "run", "kind": "compute", "service": "fal",
                  "submit": { "POST": "/${{ inputs.model }}", "json": { "prompt": "${{ inputs.prompt }}" },
                              "capture": { "status": "$.status_url", "response": "$.response_url", "cancel": "$.cancel_url" } },
                  "poll": { "GET": "${{ self.status }}", "expect": [200, 202], "status": "$.status",
                            "running": ["IN_QUEUE", "IN_PROGRESS"], "succeeded": ["COMPLETED"], "message": "$.error" },
                  "cancel": { "PUT": "${{ self.cancel }}" } },

                { "id": "answer", "kind": "request", "service": "fal", "needs": ["run"],
                  "request": { "GET": "${{ stages.run.response }}" }, "capture": { "images": "$.images[*].url[]" } },

                { "id": "images", "kind": "download", "forEach": "stages.answer.images",
                  "request": { "GET": "${{ item }}", "credentials": "none" },
                  "to": "${{ string(index) }}-${{ basename(item) }}" }
              ]
            }

            """##
        ),
        (
            "ga4gh-wes",
            ##"""
            {
              "$schema": "./pipeline.schema.json",
              "pipeline": 1,
              "name": "ga4gh-wes",
              "description": "GA4GH Workflow Execution Service 1.1: a workflow goes along in a form; its outputs as a file.",
              "inputs": {
                "workflow":   { "type": "file" },
                "parameters": { "type": "json", "default": {} },
                "type":       { "type": "string", "default": "WDL" },
                "version":    { "type": "string", "default": "1.0" }
              },
              "services": {
                "wes": {
                  "url": "${{ env.WES_URL ?? 'http://127.0.0.1:8080' }}/ga4gh/wes/v1",
                  "with": [ { "bearer": "${{ secrets.WES_TOKEN ?? 'none' }}" } ]
                }
              },
              "stages": [
                { "id": "run", "kind": "compute", "service": "wes",
                  "submit": { "POST": "/runs", "capture": { "id": "$.run_id" },
                              "with": [ { "multipart": {
                                "fields": { "workflow_params": "${{ json(inputs.parameters) }}",
                                            "workflow_type": "${{ inputs.type }}",
                                            "workflow_type_version": "${{ inputs.version }}",
                                            "workflow_url": "${{ basename(inputs.workflow) }}",
                                            "tags": "{\"pipeline\": \"${{ job.key }}\"}" },
                                "files": [ { "name": "workflow_attachment", "file": "${{ inputs.workflow }}",
                                             "filename": "${{ basename(inputs.workflow) }}" } ] } } ],
                              "once": { "match": { "list": { "GET": "/runs", "query": { "page_size": 100 },
                                                             "paginate": { "next": { "cursor": "$.next_page_token", "param": "page_token" } } },
                                                   "items": "$.runs[*]", "where": "item.tags.pipeline == job.key" } } },
                  "poll": { "GET": "/runs/${{ self.id }}/status", "status": "$.state",
                            "succeeded": ["COMPLETE"], "failed": ["EXECUTOR_ERROR", "SYSTEM_ERROR", "PREEMPTED"],
                            "cancelled": ["CANCELED"] },
                  "cancel": { "POST": "/runs/${{ self.id }}/cancel" } },

                { "id": "outputs", "kind": "request", "service": "wes",
                  "request": { "GET": "/runs/${{ stages.run.id }}" }, "capture": { "outputs": "$.outputs" } },

                { "id": "keep", "kind": "write", "json": "${{ stages.outputs.outputs }}",
                  "to": "${{ stem(inputs.workflow) }}.outputs.json" }
              ]
            }

            """##
        ),
        (
            "github-release",
            ##"""
            {
              "$schema": "./pipeline.schema.json",
              "pipeline": 1,
              "name": "github-release",
              "description": "GitHub: list the assets of a release page by page, download those that match, verified where it says how.",
              "inputs": {
                "repository": { "type": "string", "pattern": "^[^/]+/[^/]+$", "description": "OWNER/NAME" },
                "tag":        { "type": "string", "default": "latest" },
                "suffix":     { "type": "string", "default": "", "description": "only files whose names end so" }
              },
              "services": {
                "github": {
                  "url": "${{ env.GITHUB_API_URL ?? 'https://api.github.com' }}",
                  "with": [ { "bearer": "${{ secrets.GITHUB_TOKEN ?? '' }}" }, { "headers": { "X-GitHub-Api-Version": "2022-11-28" } } ]
                }
              },
              "stages": [
                { "id": "release", "kind": "request", "service": "github",
                  "request": { "GET": "/repos/${{ inputs.repository }}/releases/${{ inputs.tag == 'latest' ? 'latest' : 'tags/' + inputs.tag }}",
                               "with": [ { "cache": { "maxAge": "1m", "staleIfOffline": "7d" } } ] },
                  "capture": { "id": "$.id" } },

                { "id": "assets", "kind": "request", "service": "github",
                  "request": { "GET": "/repos/${{ inputs.repository }}/releases/${{ stages.release.id }}/assets",
                               "query": { "per_page": 100 } },
                  "paginate": { "items": "$[*]", "next": { "link": "next" } },
                  "capture": { "all": "$items[]" } },

                { "id": "files", "kind": "download", "service": "github", "concurrency": 3,
                  "forEach": "stages.assets.all[0]", "when": "endsWith(item.name, inputs.suffix)",
                  "request": { "GET": "/repos/${{ inputs.repository }}/releases/assets/${{ item.id }}",
                               "headers": { "Accept": "application/octet-stream" } },
                  "to": "${{ item.name }}",
                  "verify": { "size": "${{ item.size }}", "sha256": "${{ item.digest == null ? null : replace(item.digest, 'sha256:', '') }}" } }
              ]
            }

            """##
        ),
        (
            "google-operation",
            ##"""
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
        ),
        (
            "http-async",
            ##"""
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
        ),
        (
            "kubernetes-job",
            ##"""
            {
              "$schema": "./pipeline.schema.json",
              "pipeline": 1,
              "name": "kubernetes-job",
              "description": "A Kubernetes Job: made under a name of ours, watched by its conditions, removed in the end.",
              "inputs": {
                "image":     { "type": "string", "default": "busybox" },
                "command":   { "type": "json", "default": ["sh", "-c", "echo done"] },
                "namespace": { "type": "string", "default": "default" }
              },
              "services": {
                "cluster": {
                  "url": "${{ env.KUBERNETES_URL ?? 'http://127.0.0.1:8001' }}/apis/batch/v1",
                  "with": [ { "bearer": "${{ secrets.KUBERNETES_TOKEN ?? 'none' }}" } ]
                }
              },
              "stages": [
                { "id": "run", "kind": "compute", "service": "cluster",
                  "submit": { "POST": "/namespaces/${{ inputs.namespace }}/jobs",
                              "json": { "apiVersion": "batch/v1", "kind": "Job",
                                        "metadata": { "name": "pipeline-${{ job.key }}",
                                                      "labels": { "pipeline-key": "${{ job.key }}" } },
                                        "spec": { "backoffLimit": 3, "ttlSecondsAfterFinished": 86400,
                                                  "template": { "spec": { "restartPolicy": "Never",
                                                    "containers": [ { "name": "main", "image": "${{ inputs.image }}",
                                                                      "command": "${{ inputs.command }}" } ] } } } },
                              "capture": { "name": "$.metadata.name", "uid": "$.metadata.uid" },
                              "once": { "name": { "GET": "/namespaces/${{ inputs.namespace }}/jobs/pipeline-${{ job.key }}" },
                                        "ours": "response.body.metadata.labels['pipeline-key'] == job.key" } },
                  "poll": { "GET": "/namespaces/${{ inputs.namespace }}/jobs/${{ self.name }}",
                            "status": "$.status.conditions[?@.status == 'True'].type",
                            "succeeded": ["Complete", "SuccessCriteriaMet"], "failed": ["Failed", "FailureTarget"],
                            "failWhen": "response.body.metadata.uid != self.uid",
                            "message": "$.status.conditions[?@.type == 'Failed'].message",
                            "progress": { "done": "$.status.succeeded", "total": "$.spec.completions" } },
                  "cancel": { "DELETE": "/namespaces/${{ inputs.namespace }}/jobs/${{ self.name }}",
                              "query": { "propagationPolicy": "Background" } } }
              ],
              "finally": [
                { "id": "remove", "kind": "request", "service": "cluster", "when": "stages.run.name != null",
                  "request": { "DELETE": "/namespaces/${{ inputs.namespace }}/jobs/${{ stages.run.name ?? '' }}",
                               "query": { "propagationPolicy": "Background" }, "expect": ["2xx", 404] } }
              ]
            }

            """##
        ),
        (
            "mux",
            ##"""
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
        ),
        (
            "openai-batch",
            ##"""
            {
              "$schema": "./pipeline.schema.json",
              "pipeline": 1,
              "name": "openai-batch",
              "description": "OpenAI Batch: upload requests as JSON Lines, in parts when they are large; get results and errors.",
              "inputs": {
                "requests": { "type": "file", "description": "JSON Lines, one request a line, each with a custom_id" },
                "endpoint": { "type": "string", "default": "/v1/chat/completions" },
                "large":    { "type": "number", "default": 100000000, "description": "bytes from which the file goes in parts" }
              },
              "services": {
                "openai": {
                  "url": "${{ env.OPENAI_URL ?? 'https://api.openai.com' }}",
                  "with": [ { "bearer": "${{ secrets.OPENAI_API_KEY }}" } ]
                }
              },
              "stages": [
                { "id": "whole", "kind": "upload", "service": "openai", "when": "size(inputs.requests) < inputs.large",
                  "file": "${{ inputs.requests }}", "protocol": "multipart", "fields": { "purpose": "batch" },
                  "request": { "POST": "/v1/files" },
                  "capture": { "id": "$.id" } },

                { "id": "parts", "kind": "upload", "service": "openai", "when": "size(inputs.requests) >= inputs.large",
                  "file": "${{ inputs.requests }}", "protocol": "parts", "partSize": "64MB", "parallel": 4,
                  "request": { "POST": "/v1/uploads", "capture": { "upload": "$.id" },
                               "json": { "purpose": "batch", "filename": "${{ basename(inputs.requests) }}",
                                         "bytes": "${{ size(inputs.requests) }}", "mime_type": "application/jsonl" } },
                  "part": { "POST": "/v1/uploads/${{ self.upload }}/parts", "capture": { "part": "$.id" },
                            "with": [ { "multipart": { "files": [ { "name": "data", "part": true } ] } } ] },
                  "complete": { "POST": "/v1/uploads/${{ self.upload }}/complete",
                                "json": { "part_ids": "${{ self.parts.part }}" }, "capture": { "id": "$.file.id" } },
                  "cancel": { "POST": "/v1/uploads/${{ self.upload }}/cancel" } },

                { "id": "batch", "kind": "compute", "service": "openai", "deadline": "25h",
                  "submit": { "POST": "/v1/batches", "capture": { "id": "$.id" },
                              "json": { "input_file_id": "${{ stages.whole.id ?? stages.parts.id ?? '' }}",
                                        "endpoint": "${{ inputs.endpoint }}", "completion_window": "24h",
                                        "metadata": { "pipeline": "${{ job.key }}" } },
                              "once": { "match": { "list": { "GET": "/v1/batches", "query": { "limit": 100 } },
                                                   "items": "$.data[*]", "where": "item.metadata.pipeline == job.key" } } },
                  "poll": { "GET": "/v1/batches/${{ self.id }}", "status": "$.status",
                            "succeeded": ["completed"], "failed": ["failed"], "cancelled": ["expired", "cancelled"],
                            "progress": { "done": "$.request_counts.completed", "total": "$.request_counts.total" },
                            "message": "$.errors.data[*].message",
                            "capture": { "output": "$.output_file_id?", "errors": "$.error_file_id?",
                                         "failed": "$.request_counts.failed" } },
                  "cancel": { "POST": "/v1/batches/${{ self.id }}/cancel" },
                  "warn": [ { "when": "self.failed > 0", "message": "${{ self.failed }} requests failed" } ] },

                { "id": "results", "kind": "download", "service": "openai", "when": "stages.batch.output != null",
                  "request": { "GET": "/v1/files/${{ stages.batch.output ?? '' }}/content" },
                  "to": "${{ stem(inputs.requests) }}.results.jsonl" },

                { "id": "errors", "kind": "download", "service": "openai", "when": "stages.batch.errors != null",
                  "request": { "GET": "/v1/files/${{ stages.batch.errors ?? '' }}/content" },
                  "to": "${{ stem(inputs.requests) }}.errors.jsonl" }
              ]
            }

            """##
        ),
        (
            "ray-jobs",
            ##"""
            {
              "$schema": "./pipeline.schema.json",
              "pipeline": 1,
              "name": "ray-jobs",
              "description": "Ray Jobs: submit a job under an id of ours, watch it, keep its log, remove it.",
              "inputs": {
                "entrypoint": { "type": "string", "default": "python train.py" },
                "directory":  { "type": "string", "description": "URI of the working directory, such as s3://bucket/code.zip" }
              },
              "services": { "ray": { "url": "${{ env.RAY_URL ?? 'http://127.0.0.1:8265' }}" } },
              "stages": [
                { "id": "train", "kind": "compute", "service": "ray", "continueOnFailure": false,
                  "submit": { "POST": "/api/jobs/",
                              "json": { "submission_id": "${{ job.key }}", "entrypoint": "${{ inputs.entrypoint }}",
                                        "runtime_env": { "working_dir": "${{ inputs.directory }}" },
                                        "metadata": { "pipeline": "${{ job.key }}" } },
                              "capture": { "id": "$.submission_id" },
                              "once": { "name": { "GET": "/api/jobs/${{ job.key }}" },
                                        "ours": "response.body.metadata.pipeline == job.key" } },
                  "poll": { "GET": "/api/jobs/${{ self.id }}", "status": "$.status",
                            "running": ["PENDING", "RUNNING"], "succeeded": ["SUCCEEDED"], "failed": ["FAILED"],
                            "cancelled": ["STOPPED"], "message": "$.message" },
                  "cancel": { "POST": "/api/jobs/${{ self.id }}/stop" } },

                { "id": "log", "kind": "download", "service": "ray",
                  "request": { "GET": "/api/jobs/${{ stages.train.id }}/logs" }, "select": "$.logs",
                  "to": "${{ job.key }}.log" }
              ],
              "finally": [
                { "id": "remove", "kind": "request", "service": "ray", "when": "stages.train.id != null",
                  "request": { "DELETE": "/api/jobs/${{ stages.train.id ?? '' }}", "expect": ["2xx", 404] } }
              ]
            }

            """##
        ),
        (
            "replicate",
            ##"""
            {
              "$schema": "./pipeline.schema.json",
              "pipeline": 1,
              "name": "replicate",
              "description": "Replicate: run a model, download each file that it made before they are removed.",
              "inputs": {
                "version": { "type": "string", "description": "the model's version" },
                "prompt":  { "type": "string", "default": "an astronaut riding a horse" }
              },
              "services": {
                "replicate": {
                  "url": "${{ env.REPLICATE_URL ?? 'https://api.replicate.com' }}",
                  "with": [ { "bearer": "${{ secrets.REPLICATE_API_TOKEN }}" } ]
                }
              },
              "stages": [
                { "id": "model", "kind": "compute", "service": "replicate",
                  "submit": { "POST": "/v1/predictions", "with": [ { "prefer": "wait=5" } ],
                              "json": { "version": "${{ inputs.version }}", "input": { "prompt": "${{ inputs.prompt }}" } },
                              "capture": { "poll": { "select": "$.urls.get", "url": true },
                                           "stop": { "select": "$.urls.cancel", "url": true } } },
                  "poll": { "GET": "${{ self.poll }}", "status": "$.status",
                            "succeeded": ["succeeded"], "failed": ["failed"], "cancelled": ["canceled", "aborted"],
                            "message": "$.error",
                            "capture": { "files": "$.output[*][]", "file": "$.output" } },
                  "cancel": { "POST": "${{ self.stop }}" } },

                { "id": "files", "kind": "download", "concurrency": 4,
                  "forEach": "len(stages.model.files) > 0 ? stages.model.files : split(stages.model.file, ' ')",
                  "request": { "GET": "${{ item }}", "credentials": "none" },
                  "to": "${{ string(index) }}-${{ basename(item) }}" }
              ]
            }

            """##
        ),
        (
            "runpod",
            ##"""
            {
              "$schema": "./pipeline.schema.json",
              "pipeline": 1,
              "name": "runpod",
              "description": "RunPod serverless: the output stands in the answer and is kept for half an hour.",
              "inputs": {
                "endpoint": { "type": "string" },
                "input":    { "type": "json", "default": { "prompt": "hello" } }
              },
              "services": {
                "runpod": {
                  "url": "${{ env.RUNPOD_URL ?? 'https://api.runpod.ai' }}/v2/${{ inputs.endpoint }}",
                  "with": [ { "bearer": "${{ secrets.RUNPOD_API_KEY }}" } ]
                }
              },
              "stages": [
                { "id": "run", "kind": "compute", "service": "runpod",
                  "submit": { "POST": "/run", "json": { "input": "${{ inputs.input }}" }, "capture": { "id": "$.id" } },
                  "poll": { "GET": "/status/${{ self.id }}", "status": "$.status",
                            "running": ["IN_QUEUE", "IN_PROGRESS"], "succeeded": ["COMPLETED"],
                            "failed": ["FAILED", "TIMED_OUT"], "cancelled": ["CANCELLED"], "unknownStatus": "fail",
                            "message": "$.error", "max": "5m",
                            "capture": { "output": "$.output" } },
                  "cancel": { "POST": "/cancel/${{ self.id }}" } },

                { "id": "output", "kind": "write", "json": "${{ stages.run.output }}", "to": "${{ job.key }}.json" }
              ]
            }

            """##
        ),
        (
            "runway-video",
            ##"""
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
        ),
        (
            "s3-to-s3",
            ##"""
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
        ),
        (
            "selfie",
            ##"""
            {
              "$schema": "./pipeline.schema.json",
              "pipeline": 1,
              "name": "selfie",
              "description": "Turn a video selfie into a 3D face model.",
              "inputs": {
                "video":   { "type": "file", "default": "../Fixtures/selfie.y4m", "description": "the video to send" },
                "quality": { "type": "string", "enum": ["draft", "full"], "default": "full" }
              },
              "services": {
                "studio": {
                  "url": "${{ env.SELFIE_URL ?? 'http://127.0.0.1:8787' }}",
                  "with": [ { "bearer": "${{ secrets.SELFIE_TOKEN ?? 'demo' }}" } ]
                }
              },
              "stages": [
                { "id": "upload", "kind": "upload", "service": "studio",
                  "file": "${{ inputs.video }}", "protocol": "resumable",
                  "request": { "POST": "/videos" },
                  "capture": { "video": "$.id" } },

                { "id": "model", "kind": "compute", "service": "studio",
                  "submit": { "POST": "/models", "json": { "video": "${{ stages.upload.video }}", "quality": "${{ inputs.quality }}" },
                              "capture": { "id": "$.id" }, "once": { "key": "Idempotency-Key" } },
                  "poll": { "GET": "/models/${{ self.id }}", "status": "$.state",
                            "succeeded": ["done"], "failed": ["error"], "progress": "$.percent", "remaining": "$.eta_seconds?",
                            "capture": { "url": "$.result.url", "sha256": "$.result.sha256" } },
                  "cancel": { "DELETE": "/models/${{ self.id }}" },
                  "estimate": "60s", "deadline": "30m" },

                { "id": "download", "kind": "download", "service": "studio",
                  "request": { "GET": "${{ stages.model.url }}" },
                  "to": "${{ stem(inputs.video) }}.obj",
                  "verify": { "sha256": "${{ stages.model.sha256 }}" } }
              ],
              "notify": [ { "on": ["estimated", "succeeded", "failed"], "desktop": true } ]
            }

            """##
        ),
        (
            "slurm",
            ##"""
            {
              "$schema": "./pipeline.schema.json",
              "pipeline": 1,
              "name": "slurm",
              "description": "slurmrestd: submit a script; ask the controller, and the accounting database once it has forgotten.",
              "inputs": {
                "script":    { "type": "file" },
                "directory": { "type": "string", "default": "/tmp" },
                "version":   { "type": "string", "default": "v0.0.44" }
              },
              "services": {
                "slurm": {
                  "url": "${{ env.SLURM_URL ?? 'http://127.0.0.1:6820' }}",
                  "with": [ { "headers": { "X-SLURM-USER-NAME": "${{ env.USER ?? 'root' }}",
                                           "X-SLURM-USER-TOKEN": "${{ secrets.SLURM_JWT }}" } } ]
                }
              },
              "stages": [
                { "id": "run", "kind": "compute", "service": "slurm",
                  "submit": { "POST": "/slurm/${{ inputs.version }}/job/submit",
                              "json": { "script": "${{ text(inputs.script) }}",
                                        "job": { "name": "${{ job.key }}", "current_working_directory": "${{ inputs.directory }}",
                                                 "environment": ["PATH=/usr/bin:/bin"] } },
                              "fail": [ { "when": "len(response.body.errors ?? parse('[]')) > 0",
                                          "message": "${{ response.body.errors[0].description ?? 'refused' }}" } ],
                              "capture": { "id": "$.job_id" },
                              "once": { "match": { "list": { "GET": "/slurm/${{ inputs.version }}/jobs" },
                                                   "items": "$.jobs[*]", "where": "item.name == job.key" } } },
                  "poll": [
                    { "GET": "/slurm/${{ inputs.version }}/job/${{ self.id }}", "status": "$.jobs[0].job_state", "ignoreCase": true,
                      "missing": "response.status == 404 || len(response.body.jobs ?? parse('[]')) == 0",
                      "running": ["PENDING", "RUNNING", "COMPLETING", "CONFIGURING", "SUSPENDED", "REQUEUED", "REQUEUE_HOLD"],
                      "succeeded": ["COMPLETED"], "cancelled": ["CANCELLED"],
                      "failed": ["FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "TIMEOUT", "DEADLINE", "BOOT_FAIL", "PREEMPTED", "REVOKED"],
                      "message": "$.jobs[0].state_reason" },
                    { "GET": "/slurmdb/${{ inputs.version }}/job/${{ self.id }}", "status": "$.jobs[0].state.current",
                      "ignoreCase": true, "running": ["PENDING", "RUNNING", "COMPLETING", "REQUEUED"],
                      "succeeded": ["COMPLETED"], "cancelled": ["CANCELLED"],
                      "failed": ["FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "TIMEOUT", "DEADLINE", "BOOT_FAIL", "PREEMPTED", "REVOKED"],
                      "message": "$.jobs[0].state.reason" }
                  ],
                  "cancel": { "DELETE": "/slurm/${{ inputs.version }}/job/${{ self.id }}" } }
              ]
            }

            """##
        ),
    ]
}
