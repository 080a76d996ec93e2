import JSONPath
import PipelineCore
import Testing

@testable import PipelineStages

@Suite("A job whose download has no place to go does not start")
struct DownloadObjectionTests {
    private let folder = TransferFolder()

    private func objection(
        _ more: String, overwrites: Bool = false, stage: String = "", captured: [String: [String]] = [:]
    ) async throws -> String? {
        let plan = try TransferBench.plan(
            #"{ "id": "move", "kind": "download", "service": "api", "request": { "GET": "/x" }\#(stage), \#(more) }"#,
            captured: captured)
        let folders = JobFolders(document: folder.path, output: folder.path)
        let known = Scope(
            inputs: ["file": .string("old")], job: Scope.Job(id: "1", key: "k", started: .epoch),
            baseFolder: folder.path)
        let failure = await plan.objection(at: JobStart(known: known, folders: folders, overwrites: overwrites))
        if let failure { #expect(failure.place?.hasPrefix("test.json:") == true) }
        return failure?.title
    }

    @Test("when a file is there of which nothing says that it is the one that is wanted")
    func taken() async throws {
        folder.write("old.txt", Array("old".utf8))
        let taken = "a file is at \(folder.path)/old.txt already, and is not replaced"
        #expect(try await objection(#""to": "old.txt""#) == taken)
        #expect(try await objection(#""to": "${{ inputs.file }}.txt""#) == taken)
        #expect(try await objection(#""to": "new.txt""#) == nil)
        #expect(try await objection(#""to": "./""#) == nil)
        #expect(try await objection(#""to": "old.txt", "overwrite": true"#) == nil)
        #expect(try await objection(#""to": "old.txt""#, overwrites: true) == nil)
        #expect(try await objection(#""to": "old.txt", "unpack": "zip""#)?.hasPrefix("something is at") == true)
    }

    @Test("but does when what is known of it agrees, or is not yet known")
    func verified() async throws {
        folder.write("old.txt", Array("old".utf8))
        let digest = TransferFolder.sha256(Array("old".utf8))
        #expect(try await objection(#""to": "old.txt", "verify": { "sha256": "\#(digest)" }"#) == nil)
        let other = TransferFolder.sha256([])
        let different = "a different file is at \(folder.path)/old.txt already, and is not replaced"
        #expect(try await objection(#""to": "old.txt", "verify": { "sha256": "\#(other)" }"#) == different)
        #expect(try await objection(#""to": "old.txt", "verify": { "size": 4 }"#) == different)
        #expect(try await objection(#""to": "old.txt", "verify": { "header": "X-Sum" }"#) == nil)
        let later = #""to": "old.txt", "verify": { "sha256": "${{ stages.a.sum }}" }"#
        #expect(try await objection(later, captured: ["a": ["sum"]]) == nil)
        let name = #""to": "${{ stages.a.name ?? 'old.txt' }}""#
        #expect(try await objection(name, captured: ["a": ["name"]]) == nil)
    }

    @Test("but does when the stage may be skipped, or its failure ends nothing")
    func skipped() async throws {
        folder.write("old.txt", Array("old".utf8))
        #expect(try await objection(#""to": "old.txt""#, stage: #", "when": "inputs.file == 'x'""#) == nil)
        #expect(try await objection(#""to": "old.txt""#, stage: #", "continueOnFailure": true"#) == nil)
        #expect(try await objection(#""to": "old.txt""#, stage: #", "forEach": "split('a,b', ',')""#) == nil)
    }
}
