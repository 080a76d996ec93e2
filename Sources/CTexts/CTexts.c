#include "CTexts.h"

// The files themselves, read by the compiler: a copy could differ from what the tests run.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const char anthropic_batch[] = {
#embed "../../Pipelines/anthropic-batch.json" suffix(, 0)
};

static const char apple_notary[] = {
#embed "../../Pipelines/apple-notary.json" suffix(, 0)
};

static const char assemblyai[] = {
#embed "../../Pipelines/assemblyai.json" suffix(, 0)
};

static const char aws_transcribe[] = {
#embed "../../Pipelines/aws-transcribe.json" suffix(, 0)
};

static const char azure_batch[] = {
#embed "../../Pipelines/azure-batch.json" suffix(, 0)
};

static const char azure_operation[] = {
#embed "../../Pipelines/azure-operation.json" suffix(, 0)
};

static const char bigquery_export[] = {
#embed "../../Pipelines/bigquery-export.json" suffix(, 0)
};

static const char cloudconvert[] = {
#embed "../../Pipelines/cloudconvert.json" suffix(, 0)
};

static const char cloudflare_stream[] = {
#embed "../../Pipelines/cloudflare-stream.json" suffix(, 0)
};

static const char databricks[] = {
#embed "../../Pipelines/databricks.json" suffix(, 0)
};

static const char deepgram[] = {
#embed "../../Pipelines/deepgram.json" suffix(, 0)
};

static const char dropbox[] = {
#embed "../../Pipelines/dropbox.json" suffix(, 0)
};

static const char fal[] = {
#embed "../../Pipelines/fal.json" suffix(, 0)
};

static const char ga4gh_wes[] = {
#embed "../../Pipelines/ga4gh-wes.json" suffix(, 0)
};

static const char github_actions[] = {
#embed "../../Pipelines/github-actions.json" suffix(, 0)
};

static const char github_release[] = {
#embed "../../Pipelines/github-release.json" suffix(, 0)
};

static const char google_document_ai[] = {
#embed "../../Pipelines/google-document-ai.json" suffix(, 0)
};

static const char google_operation[] = {
#embed "../../Pipelines/google-operation.json" suffix(, 0)
};

static const char gradio_space[] = {
#embed "../../Pipelines/gradio-space.json" suffix(, 0)
};

static const char http_async[] = {
#embed "../../Pipelines/http-async.json" suffix(, 0)
};

static const char jenkins[] = {
#embed "../../Pipelines/jenkins.json" suffix(, 0)
};

static const char kubernetes_job[] = {
#embed "../../Pipelines/kubernetes-job.json" suffix(, 0)
};

static const char meshy[] = {
#embed "../../Pipelines/meshy.json" suffix(, 0)
};

static const char mux[] = {
#embed "../../Pipelines/mux.json" suffix(, 0)
};

static const char openai_batch[] = {
#embed "../../Pipelines/openai-batch.json" suffix(, 0)
};

static const char ray_jobs[] = {
#embed "../../Pipelines/ray-jobs.json" suffix(, 0)
};

static const char replicate[] = {
#embed "../../Pipelines/replicate.json" suffix(, 0)
};

static const char runpod[] = {
#embed "../../Pipelines/runpod.json" suffix(, 0)
};

static const char runway_video[] = {
#embed "../../Pipelines/runway-video.json" suffix(, 0)
};

static const char s3_to_s3[] = {
#embed "../../Pipelines/s3-to-s3.json" suffix(, 0)
};

static const char selfie[] = {
#embed "../../Pipelines/selfie.json" suffix(, 0)
};

static const char slurm[] = {
#embed "../../Pipelines/slurm.json" suffix(, 0)
};

static const char snowflake[] = {
#embed "../../Pipelines/snowflake.json" suffix(, 0)
};

static const char youtube[] = {
#embed "../../Pipelines/youtube.json" suffix(, 0)
};

static const char page_format[] = {
#embed "../PipelineKit/PipelineKit.docc/FormatReference.md" suffix(, 0)
};

static const char page_expressions[] = {
#embed "../PipelineKit/PipelineKit.docc/Expressions.md" suffix(, 0)
};

static const struct pipeline_text examples[] = {
    { "anthropic-batch", anthropic_batch },
    { "apple-notary", apple_notary },
    { "assemblyai", assemblyai },
    { "aws-transcribe", aws_transcribe },
    { "azure-batch", azure_batch },
    { "azure-operation", azure_operation },
    { "bigquery-export", bigquery_export },
    { "cloudconvert", cloudconvert },
    { "cloudflare-stream", cloudflare_stream },
    { "databricks", databricks },
    { "deepgram", deepgram },
    { "dropbox", dropbox },
    { "fal", fal },
    { "ga4gh-wes", ga4gh_wes },
    { "github-actions", github_actions },
    { "github-release", github_release },
    { "google-document-ai", google_document_ai },
    { "google-operation", google_operation },
    { "gradio-space", gradio_space },
    { "http-async", http_async },
    { "jenkins", jenkins },
    { "kubernetes-job", kubernetes_job },
    { "meshy", meshy },
    { "mux", mux },
    { "openai-batch", openai_batch },
    { "ray-jobs", ray_jobs },
    { "replicate", replicate },
    { "runpod", runpod },
    { "runway-video", runway_video },
    { "s3-to-s3", s3_to_s3 },
    { "selfie", selfie },
    { "slurm", slurm },
    { "snowflake", snowflake },
    { "youtube", youtube },
};

const struct pipeline_text *pipeline_example_at(unsigned index) {
    return index < sizeof examples / sizeof *examples ? &examples[index] : 0;
}

static const struct pipeline_text pages[] = {
    { "format", page_format },
    { "expressions", page_expressions },
};

const struct pipeline_text *pipeline_page_at(unsigned index) {
    return index < sizeof pages / sizeof *pages ? &pages[index] : 0;
}
