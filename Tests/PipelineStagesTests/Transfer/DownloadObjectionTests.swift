import CLibrary
import JSONPath
import PipelineCore
import Testing

@testable import PipelineStages

@Suite("A job whose download has no place to go does not start")
struct DownloadObjectionTests {
    private let folder = TransferFolder()

    private func preflight(
        _ more: String, overwrites: Bool = false, stage: String = "", captured: [String: [String]] = [:]
    ) async throws -> String? {
        let plan = try TransferBench.plan(
            #"{ "id": "move", "kind": "download", "service": "api", "request": { "GET": "/x" }\#(stage), \#(more) }"#,
            captured: captured)
        let folders = JobFolders(document: folder.path, output: folder.path)
        let known = Scope(
            inputs: ["file": .string("old")], job: Scope.Job(id: "1", key: "k", started: .epoch),
            baseFolder: folder.path)
        let failure = await plan.preflight(at: JobStart(known: known, folders: folders, overwrites: overwrites))
        if let failure { #expect(failure.place?.hasPrefix("test.json:") == true) }
        return failure?.title
    }

    @Test("when a file is there of which nothing says that it is the one that is wanted")
    func taken() async throws {
        folder.write("old.txt", Array("old".utf8))
        let taken = "a file is at \(folder.path)/old.txt already, and is not replaced"
        #expect(try await preflight(#""to": "old.txt""#) == taken)
        #expect(try await preflight(#""to": "${{ inputs.file }}.txt""#) == taken)
        #expect(try await preflight(#""to": "old.txt", "select": "$.a""#) == taken)
        #expect(try await preflight(#""to": "new.txt""#) == nil)
        #expect(try await preflight(#""to": "./""#) == nil)
        #expect(try await preflight(#""to": "old.txt", "overwrite": true"#) == nil)
        #expect(try await preflight(#""to": "old.txt""#, overwrites: true) == nil)
        #expect(try await preflight(#""to": "old.txt", "unpack": "zip""#)?.hasPrefix("something is at") == true)
    }

    @Test("but does when what is known of it agrees, or is not yet known")
    func verified() async throws {
        folder.write("old.txt", Array("old".utf8))
        let digest = TransferFolder.sha256(Array("old".utf8))
        #expect(try await preflight(#""to": "old.txt", "verify": { "sha256": "\#(digest)" }"#) == nil)
        let other = TransferFolder.sha256([])
        let different = "a different file is at \(folder.path)/old.txt already, and is not replaced"
        #expect(try await preflight(#""to": "old.txt", "verify": { "sha256": "\#(other)" }"#) == different)
        #expect(try await preflight(#""to": "old.txt", "verify": { "size": 4 }"#) == different)
        #expect(try await preflight(#""to": "old.txt", "verify": { "header": "X-Sum" }"#) == nil)
        let later = #""to": "old.txt", "verify": { "sha256": "${{ stages.a.sum }}" }"#
        #expect(try await preflight(later, captured: ["a": ["sum"]]) == nil)
        let name = #""to": "${{ stages.a.name ?? 'old.txt' }}""#
        #expect(try await preflight(name, captured: ["a": ["name"]]) == nil)
    }

    /// What came before was paid for by then.
    @Test("when its name is too long, or what verifies it is no digest")
    func impossible() async throws {
        let long = String(repeating: "n", count: 251)
        let most = String(repeating: "n", count: 250)
        #expect(try await preflight("\"to\": \"\(long)\"")?.contains("has 251 bytes, and a result's has 250") == true)
        #expect(try await preflight("\"to\": \"\(most)\"") == nil)
        let digest = #""to": "new.txt", "verify": { "sha256": "${{ inputs.file }}" }"#
        #expect(try await preflight(digest) == #"the value of "sha256" is no SHA-256: "old""#)
    }

    /// The upload and the order were paid for by then.
    @Test("when no file can be made in the folder, whatever name a response will give it")
    func folderOfLaterName() async throws {
        folder.write("old", Array("old".utf8))
        func title(_ to: String) async throws -> String? {
            try await preflight(#""to": "\#(to)""#, captured: ["a": ["name"]])
        }
        let refused = "can't write to \(folder.path)/old: Not a directory"
        #expect(try await title("old/${{ stages.a.name }}") == refused)
        #expect(try await title("${{ inputs.file }}/x-${{ stages.a.name }}") == refused)
        #expect(try await title("old-${{ stages.a.name }}") == nil)
        #expect(try await title("new/${{ stages.a.name }}") == nil)
        #expect(try await title("\(folder.path)/old/${{ stages.a.name }}") == refused)
        // As of a disk that is not mounted.
        #expect(symlink("/nowhere/at/all", "\(folder.path)/link") == 0)
        #expect(try await title("link/${{ stages.a.name }}") == "\(folder.path)/link leads nowhere")
        #expect(try await preflight(#""to": "link/x/y.txt""#) == "\(folder.path)/link leads nowhere")
    }

    @Test("but does when the stage may be skipped, or its failure ends nothing")
    func skipped() async throws {
        folder.write("old.txt", Array("old".utf8))
        #expect(try await preflight(#""to": "old.txt""#, stage: #", "when": "inputs.file == 'x'""#) == nil)
        #expect(try await preflight(#""to": "old.txt""#, stage: #", "continueOnFailure": true"#) == nil)
    }

    /// The whole job was bought first, and failed then.
    @Test("nor does it when the stage has a condition that is known to hold")
    func conditional() async throws {
        folder.write("old.txt", Array("old".utf8))
        func failure(_ condition: String) async throws -> String? {
            try await preflight(
                #""to": "old.txt""#, stage: #", "when": "\#(condition)""#, captured: ["a": ["name"]])
        }
        for condition in ["inputs.file == 'old'", "job.key != null", "2 > 1"] {
            #expect(try await failure(condition)?.hasPrefix("a file is at") == true, "\(condition)")
        }
        for condition in ["stages.a.name == 'old'", "size(inputs.file) == 3", "inputs.file", "now() != ''"] {
            #expect(try await failure(condition) == nil, "\(condition)")
        }
    }

    @Test("when two items that are known write one file, or one of them can't be written")
    func items() async throws {
        folder.write("b.txt", Array("old".utf8))
        func found(_ to: String, _ items: String) async throws -> String? {
            try await preflight(#""to": "\#(to)""#, stage: #", "forEach": "split('\#(items)', ',')""#)
        }
        #expect(
            try await found("new.txt", "a,b") == "items 0 and 1 of stage 'move' would both write \(folder.path)/new.txt"
        )
        #expect(
            try await found("${{ item }}.bin", "a,b,c,b")
                == "items 1 and 3 of stage 'move' would both write \(folder.path)/b.bin")
        #expect(try await found("${{ item }}.txt", "a,b")?.hasPrefix("item 1 of stage 'move': a file is at") == true)
        #expect(try await found("${{ item }}-${{ index }}", "a,a") == nil)
        #expect(try await found("./", "a,a") == nil)
    }

    /// Only the second item found out, when it had been paid for.
    @Test("when two items that are known unpack into one folder, of which the plan warns already")
    func itemsUnpacked() async throws {
        let each = #", "forEach": "split('a,b', ',')""#
        func found(_ more: String) async throws -> String? { try await preflight(more, stage: each) }
        func warnings(_ more: String) throws -> [String] {
            let stage = #"{ "id": "move", "kind": "download", "service": "api", "request": { "GET": "/x" }"#
            return try TransferBench.plan("\(stage)\(each), \(more) }").warnings.diagnostics.map(\.message)
                .filter { $0.contains("writes the same") }
        }
        for unpack in [#""zip""#, #"{ "format": "tar", "maximumSize": "1MiB" }"#] {
            let one = #""to": "models/", "unpack": \#(unpack)"#
            #expect(
                try await found(one) == "items 0 and 1 of stage 'move' would both write \(folder.path)/models")
            #expect(try warnings(one) == ["each item of stage 'move' writes the same folder"])
            let own = #""to": "models/${{ index }}/", "unpack": \#(unpack)"#
            #expect(try await found(own) == nil)
            #expect(try warnings(own).isEmpty)
        }
        // Of a single file in a folder the name is the service's.
        for unpack in ["gz", "auto"] {
            let named = #""to": "models/", "unpack": "\#(unpack)""#
            #expect(try await found(named) == nil)
            #expect(try warnings(named).isEmpty)
        }
    }

    @Test("when a file among items that are known is not there, unless a stage before may make it")
    func missingFiles() async throws {
        folder.write("a.bin", [1])
        func failure(_ before: String) async throws -> String? {
            let plan = try TransferBench.plan(
                """
                \(before) { "id": "send", "kind": "upload", "service": "api", "protocol": "put", "file": "${{ item }}",
                  "forEach": "split('a.bin,b.bin', ',')", "request": { "PUT": "/x" } }
                """)
            let known = Scope(job: Scope.Job(id: "1", key: "k", started: .epoch), baseFolder: folder.path)
            let folders = JobFolders(document: folder.path, output: folder.path)
            return await plan.preflight(at: JobStart(known: known, folders: folders, overwrites: false))?.title
        }
        #expect(
            try await failure("")
                == "item 1 of stage 'send': the file \(folder.path)/b.bin can't be read: No such file or directory")
        #expect(
            try await failure(
                #"{ "id": "w", "kind": "download", "service": "api", "request": { "GET": "/x" }, "to": "b.bin" },"#)
                == nil)
        // One that writes nothing can't have made it.
        let request = #"{ "id": "w", "kind": "request", "service": "api", "request": { "GET": "/x" }"#
        #expect(try await failure(request + " },")?.hasPrefix("item 1 of stage 'send'") == true)
        #expect(try await failure(request + #", "to": "b.bin" },"#) == nil)
    }

    @Test("when the file of a response is a folder")
    func folderInPlace() async throws {
        folder.write("old.txt", Array("old".utf8))
        func failure(_ to: String) async throws -> StepFailure? {
            let plan = try TransferBench.plan(
                #"{ "id": "get", "kind": "request", "service": "api", "request": { "GET": "/x" }, "to": "\#(to)" }"#)
            let known = Scope(job: Scope.Job(id: "1", key: "k", started: .epoch), baseFolder: folder.path)
            let folders = JobFolders(document: folder.path, output: "/")
            return await plan.preflight(at: JobStart(known: known, folders: folders, overwrites: false))
        }
        #expect(try await failure(folder.path)?.title == "\(folder.path) is a folder")
        #expect(try await failure(folder.path)?.hint == "name a file in it, or choose another \"to\"")
        #expect(try await failure(folder.path + "${{ '/' }}")?.title == "\"to\" is a folder, \(folder.path)")
        #expect(try await failure(folder.path + "/new.txt") == nil)
    }
}
