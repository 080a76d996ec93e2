import Foundation
import JSONPath
import PipelineCore
import PipelineKit
import Testing

/// What services ask of the format, each with the example in which it is said. That the examples are valid and do their
/// work is shown elsewhere; here, that none of these ways is lost.
@Suite("What services need can be said") struct WitnessTests {
    struct Witness: Sendable, CustomTestStringConvertible {
        let need: String
        let example: String
        /// Pieces of the document that say it.
        let said: [String]
        var testDescription: String { need }

        init(_ need: String, in example: String, _ said: String...) {
            self.need = need
            self.example = example
            self.said = said
        }

        static let all = [
            Witness(
                "an id or URL from the body or from a header, in an order of preference", in: "azure-operation",
                #"["header:Operation-Location", "header:Azure-AsyncOperation", "header:Location?"]"#),
            Witness(
                "a whole poll URL out of an answer, resolved against the request", in: "replicate",
                #""select": "$.urls.get", "url": true"#),
            Witness(
                "a state that is an array of strings", in: "slurm", #""status": "$.jobs[0].job_state""#, "REQUEUED"),
            Witness(
                "a state that is a boolean and what stands beside it", in: "google-operation",
                "response.body.done == true"),
            Witness(
                "a state that is a list of conditions", in: "kubernetes-job",
                "$.status.conditions[?@.status == 'True'].type"),
            Witness("a state that is the status alone: 202, 303, 200", in: "http-async", "respond-async"),
            Witness("states of any case, said so", in: "mux", #""ignoreCase": true"#),
            Witness(
                "lists of states, and what an unknown one means", in: "runpod", #""failed": ["#, #""cancelled": ["#,
                #""unknownStatus": "fail""#),
            Witness(
                "success with one of two results", in: "openai-batch", #""$.output_file_id?""#, #""$.error_file_id?""#),
            Witness("success of which a part failed", in: "openai-batch", #""warn": [ { "when": "self.failed > 0""#),
            Witness("an error under status 200", in: "slurm", #""fail": [ { "when": "len(response.body.errors"#),
            Witness("a second place to ask when the first has forgotten the job", in: "slurm", #""poll": ["#),
            Witness(
                "two objects one after the other, each polled", in: "mux", "/video/v1/uploads/", "/video/v1/assets/"),
            Witness(
                "a submit before the upload, whose target it gives", in: "cloudconvert",
                #""POST": "${{ stages.job.form }}""#),
            Witness(
                "form fields out of an answer, the file last", in: "cloudconvert",
                #""fields": "${{ stages.job.parameters }}""#),
            Witness("parts with ids in order", in: "openai-batch", #""protocol": "parts""#, "self.parts."),
            Witness("an inline result", in: "runpod", #""kind": "write""#),
            Witness("results by URL, several, without credentials", in: "fal", "forEach", #""credentials": "none""#),
            Witness("a result by the id of a file, with credentials", in: "openai-batch", "/content"),
            Witness("basic credentials", in: "mux", #""basic""#),
            Witness("a pair of headers as credentials", in: "slurm", "X-SLURM-USER-NAME", "X-SLURM-USER-TOKEN"),
            Witness("signatures of AWS", in: "aws-transcribe", #""sigv4""#),
            Witness("client credentials of OAuth 2", in: "azure-operation", #""oauth2""#),
            Witness("one way for small files and one for large", in: "openai-batch", "size(inputs.requests) <", ">="),
            Witness("a local file made into a body", in: "anthropic-batch", "${{ jsonLines(inputs.requests) }}"),
            Witness("clean-up whatever became of the job", in: "ray-jobs", #""finally": ["#, #""DELETE""#),
            Witness("tokens signed with a key of one's own", in: "apple-notary", #""jwt""#, "ES256"),
            Witness("a service account that signs assertions", in: "google-document-ai", #""assertion""#, "RS256"),
            Witness("a person's refresh token", in: "youtube", #""refreshToken""#),
            Witness(
                "a job that only a list of jobs shows", in: "github-actions", #""find""#,
                "item.display_title == self.key"),
            Witness("a file inside of a JSON body", in: "meshy", ";base64,${{ fileBase64(inputs.image) }}"),
            Witness("pages of a list", in: "github-release", #""paginate""#, #""link": "next""#),
        ]
    }

    @Test("each has an example that says it", arguments: Witness.all)
    func example(witness: Witness) throws {
        let file = ExampleTests.root.appending(path: "Pipelines/\(witness.example).json")
        let text = try String(contentsOf: file, encoding: .utf8)
        for piece in witness.said { #expect(text.contains(piece), "\(witness.example) does not say \(piece)") }
    }

    @Test("a state that is a number of per cent is a condition on it")
    func percent() throws {
        let text = #"""
            { "pipeline": 1, "name": "percent", "services": { "s": { "url": "http://s" } },
              "stages": [ { "id": "work", "kind": "compute", "service": "s",
                "submit": { "POST": "/jobs", "capture": { "id": "$.id" } },
                "poll": { "GET": "/jobs/${{ self.id }}", "until": "response.body.percent >= 100",
                          "progress": "$.percent" } } ] }
            """#
        let workspace = Workspace(settings: Settings(stateFolder: "/nowhere", secretsFile: nil, environment: [:]))
        let plan = try Planner(catalogue: workspace.catalogue).plan(SourceText(name: "percent.json", text: text))
        #expect(plan.stages.map(\.id) == ["work"])
    }

    @Test("no example looks a submit up by job.key, which the job before a retry has too")
    func lookUps() throws {
        var count = 0
        for name in ExampleTests.examples {
            let text = try String(contentsOf: ExampleTests.root.appending(path: "Pipelines/\(name)"), encoding: .utf8)
            for piece in text.components(separatedBy: #""once": { "#).dropFirst()
            where piece.hasPrefix(#""name""#) || piece.hasPrefix(#""match""#) {
                // As far as the next key of the stage.
                let once = piece.components(separatedBy: "\n      \"")[0]
                #expect(once.contains("self.key") && !once.contains("job.key"), "\(name)")
                count += 1
            }
        }
        #expect(count == 10)
    }

    @Test("no example has sixty lines or more")
    func short() throws {
        for name in ExampleTests.examples {
            let text = try String(contentsOf: ExampleTests.root.appending(path: "Pipelines/\(name)"), encoding: .utf8)
            #expect(text.split(separator: "\n").count < 60, "\(name)")
        }
    }
}
