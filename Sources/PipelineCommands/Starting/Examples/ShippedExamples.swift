// Written by `RECORD=1 swift test --filter StartingTests` from the folder Pipelines.

/// The examples that the program carries, by name.
enum ShippedExamples {
    static let names = all.map(\.name)

    static func text(of name: String) -> String? { all.first { $0.name == name }?.text }

    private static let all: [(name: String, text: String)] = [
        ("anthropic-batch", anthropicBatch),
        ("apple-notary", appleNotary),
        ("assemblyai", assemblyai),
        ("aws-transcribe", awsTranscribe),
        ("azure-batch", azureBatch),
        ("azure-operation", azureOperation),
        ("bigquery-export", bigqueryExport),
        ("cloudconvert", cloudconvert),
        ("cloudflare-stream", cloudflareStream),
        ("databricks", databricks),
        ("fal", fal),
        ("ga4gh-wes", ga4ghWes),
        ("github-actions", githubActions),
        ("github-release", githubRelease),
        ("google-document-ai", googleDocumentAi),
        ("google-operation", googleOperation),
        ("http-async", httpAsync),
        ("jenkins", jenkins),
        ("kubernetes-job", kubernetesJob),
        ("meshy", meshy),
        ("mux", mux),
        ("openai-batch", openaiBatch),
        ("ray-jobs", rayJobs),
        ("replicate", replicate),
        ("runpod", runpod),
        ("runway-video", runwayVideo),
        ("s3-to-s3", s3ToS3),
        ("selfie", selfie),
        ("slurm", slurm),
        ("snowflake", snowflake),
        ("youtube", youtube),
    ]
}
