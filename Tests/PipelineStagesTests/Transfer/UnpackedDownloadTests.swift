import CLibrary
import JSONPath
import PipelineCore
import PipelineTestKit
import Testing

@testable import PipelineStages

@Suite("A download that is unpacked")
struct UnpackedDownloadTests {
    private let folder = TransferFolder()
    private let archive = PackedFile.bytes(.zip, [.file("mesh.obj", "v 1"), .file("images/a.png", "png")])

    private func bench(
        _ service: FileService, unpack: String = #""zip""#, to: String = "work/model/", _ more: String = ""
    ) throws -> TransferBench {
        try TransferBench(
            """
            { "id": "move", "kind": "download", "service": "api", "request": { "GET": "/model.zip" }, "to": "\(to)",
              "unpack": \(unpack) \(more) }
            """, url: service.url, folder: folder.path)
    }

    @Test("is the folder, with each file told of, and nothing beside it")
    func whole() async throws {
        let service = try FileService(archive)
        let bench = try bench(service, to: "work/model/", #", "verify": { "size": \#(archive.count) }"#)
        let captures = await bench.resume().finished
        #expect(captures?["path"]?.string == "\(folder.path)/work/model")
        #expect(captures?["sha256"]?.string == TransferFolder.sha256(archive))
        #expect(folder.read("work/model/mesh.obj") == Array("v 1".utf8))
        let paths = ["images/a.png", "mesh.obj"].map { "\(folder.path)/work/model/\($0)" }
        #expect(bench.state.files.map(\.path) == paths)
        #expect(TransferFolder.names(in: "\(folder.path)/work") == ["model"])
    }

    @Test(
        "survives a crash behind the verdict and behind the rename, without asking the service again",
        arguments: [CrashPoint.downloadVerified, .downloadRenamed])
    func crash(point: CrashPoint) async throws {
        let service = try FileService(archive)
        let bench = try bench(service)
        #expect(await bench.resume(crash: (point, 1)).hasDied)
        #expect((folder.read("work/model/mesh.obj") == nil) == (point == .downloadVerified))
        #expect(await bench.resume().finished?["path"]?.string == "\(folder.path)/work/model")
        #expect(service.requests.count == 1)
        #expect(bench.state.files.map(\.bytes) == [3, 3])
        #expect(TransferFolder.names(in: "\(folder.path)/work") == ["model"])
    }

    @Test("replaces no folder with something in it unless told to, and then as a whole")
    func existing() async throws {
        let service = try FileService(archive)
        let first = try bench(service, to: "model")
        #expect(await first.resume().finished != nil)
        let again = try bench(service, to: "model")
        let refused = await again.resume().failedTry?.failure
        #expect(refused?.title.contains("is at \(folder.path)/model already") == true)
        #expect(refused?.hint?.contains("replaces it, with all that is in it") == true)
        #expect(service.requests.count == 1)
        service.change { $0.content = PackedFile.bytes(.zip, [.file("other.obj", "v 2")]) }
        again.state.overwrites = true
        #expect(await again.resume().finished != nil)
        #expect(TransferFolder.names(in: "\(folder.path)/model") == ["other.obj"])
        #expect(folder.names == ["model"])
    }

    /// The folder was replaced as a whole, and what another step had written in it was gone.
    @Test("replaces no folder in which another step of the job has written")
    func writtenInside() async throws {
        let service = try FileService(archive)
        mkdir("\(folder.path)/model", 0o755)
        folder.write("model/other.obj", Array("v 2".utf8))
        let bench = try bench(service, to: "model")
        bench.state.overwrites = true
        bench.state.writers = ["\(folder.path)/model/other.obj": StepKey(stage: "other")]
        let failure = await bench.resume().failedTry?.failure
        #expect(failure?.title.contains("/model is what stage 'other' of this job has written") == true)
        #expect(failure?.hint?.contains("waits as \(folder.path)/model.01job-move.part") == true)
        #expect(folder.read("model/other.obj") == Array("v 2".utf8))
        #expect(folder.read("model.01job-move.part") == archive)
    }

    @Test("never takes the job's own folder for its place")
    func ownFolder() async throws {
        let service = try FileService(archive)
        let bench = try bench(service, to: "./")
        bench.state.overwrites = true
        #expect(await bench.resume().refusal?.contains("the job's own folder is in it") == true)
        #expect(service.requests.isEmpty)
    }

    @Test("of one compressed file has the service's name without the ending, in a folder")
    func single() async throws {
        let packed = PackedFile.bytes(.gzip, [.file("x", "v 3")])
        let service = try FileService(packed) {
            $0.fields = [("Content-Disposition", "attachment; filename=\"scan.obj.gz\"")]
        }
        let bench = try bench(service, unpack: #""auto""#, to: "out/")
        #expect(await bench.resume().finished?["path"]?.string == "\(folder.path)/out/scan.obj")
        #expect(folder.read("out/scan.obj") == Array("v 3".utf8))
        #expect(folder.names == ["out"])
        let fixed = try self.bench(service, unpack: #""gz""#, to: "scan.obj")
        #expect(await fixed.resume(crash: (.downloadRenamed, 1)).hasDied)
        #expect(await fixed.resume().finished?["path"]?.string == "\(folder.path)/scan.obj")
        #expect(folder.names == ["out", "scan.obj"])
    }

    @Test("that would fill the disk fails with the key to mend it, and keeps nothing")
    func bomb() async throws {
        let zeros = PackedFile.Entry(name: "x", content: [UInt8](repeating: 0, count: 1 << 20))
        let service = try FileService(PackedFile.bytes(.zip, [zeros]))
        let bench = try bench(service, unpack: #"{ "format": "zip", "maximumSize": "512KiB" }"#, to: "model")
        let failure = await bench.resume().failedTry
        #expect(failure?.kind == .definite)
        #expect(failure?.failure.title.contains("more than 512.0 KiB would come out of it") == true)
        #expect(failure?.failure.hint?.contains("maximumSize") == true)
        #expect(folder.names.isEmpty)
    }
}
