import PipelineCore
import Testing

@Suite("Mistakes in the place of a result")
struct OutputPathReadingTests {
    @Test(
        "are told before anything is sent",
        arguments: [
            (#""kind": "download", "service": "api", "request": { "GET": "/a" }"#, #""#, #""to" names no file"#),
            (#""kind": "download", "service": "api", "request": { "GET": "/a" }"#, "a\\u0000b", #""to" names no file"#),
            (#""kind": "write", "text": "a""#, "", #""to" names no file"#),
            (#""kind": "write", "text": "a""#, "texts/", #""to" is a folder, texts/"#),
            (#""kind": "request", "service": "api", "request": { "GET": "/a" }"#, "..", #""to" is a folder, .."#),
        ])
    func mistakes(stage: String, path: String, message: String) {
        let report = StageBench.report(#"{ "id": "a", \#(stage), "to": "\#(path)" }"#)
        #expect(report.contains("error: \(message)"), "\(report)")
    }

    @Test("a download may name a folder; what an expression gives is known later", arguments: ["files/", "${{ '' }}"])
    func taken(path: String) {
        let report = StageBench.report(
            #"{ "id": "a", "kind": "download", "service": "api", "request": { "GET": "/a" }, "to": "\#(path)" }"#)
        #expect(!report.contains("error:"), "\(report)")
    }
}
