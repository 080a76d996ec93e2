// Written by `RECORD=1 swift test --filter StartingTests` from the folder Pipelines.

/// The examples that the program carries, by name.
enum ShippedExamples {
    static let names = all.map(\.name)

    static func text(of name: String) -> String? { all.first { $0.name == name }?.text }

    private static let all: [(name: String, text: String)] = [
        ("anthropic-batch", anthropicBatch),
        ("assemblyai", assemblyai),
        ("aws-transcribe", awsTranscribe),
        ("azure-operation", azureOperation),
        ("cloudconvert", cloudconvert),
        ("fal", fal),
        ("ga4gh-wes", ga4ghWes),
        ("github-release", githubRelease),
        ("google-operation", googleOperation),
        ("http-async", httpAsync),
        ("kubernetes-job", kubernetesJob),
        ("mux", mux),
        ("openai-batch", openaiBatch),
        ("ray-jobs", rayJobs),
        ("replicate", replicate),
        ("runpod", runpod),
        ("runway-video", runwayVideo),
        ("s3-to-s3", s3ToS3),
        ("selfie", selfie),
        ("slurm", slurm),
    ]
}
