import CLibrary
import JSONPath
import PipelineCore
import PipelineTestKit
import Synchronization
import Testing

@testable import PipelineStages

@Suite("What counts as progress of a download, and whose its part is")
struct DownloadProgressTests {
    private let folder = TransferFolder()
    private let content = TransferFolder.bytes(10 << 20)

    private func bench(_ service: FileService, _ more: String = "") throws -> TransferBench {
        try .download(from: service, more, to: "m.obj", in: folder)
    }

    /// Each began at the first byte again, and its bytes forgave all failures before.
    @Test("is only what lies beyond the farthest byte that ever counted, however often it is cut at one byte")
    func cutAgain() async throws {
        let service = try FileService(content) { $0.cuts = [Int](repeating: 3 << 20, count: 5) }
        let bench = try bench(service)
        for round in 1...5 {
            service.change { $0.tag = "\"v\(round)\"" }
            #expect(await bench.resume().failedTry?.kind == .silent)
            #expect(bench.state.progressed == 1)
            #expect(bench.state.moved.received == Int64(round * 3) << 20)
        }
        #expect(await bench.run().finished != nil)
        #expect(bench.state.progressed > 1)
        #expect(bench.state.moved.received == 22 << 20)
        #expect(folder.read("m.obj") == content)
    }

    @Test("is likewise bounded where the service has no ranges")
    func noRanges() async throws {
        let service = try FileService(content) {
            $0.ignoresRanges = true
            $0.cuts = [3 << 20, 3 << 20]
        }
        let bench = try bench(service)
        for round in 1...2 {
            _ = await bench.resume()
            #expect(bench.state.progressed == 1)
            #expect(bench.state.moved.received == Int64(round * 3) << 20)
        }
        #expect(await bench.run().finished != nil)
    }

    /// A process that is stopped (SIGSTOP) holds the lock of its part for as long as it is stopped.
    @Test("a part that a stopped owner of the same step holds is taken over, and what that writes later harms nobody")
    func takenOver() async throws {
        let service = try FileService(content) { $0.cuts = [5 << 20] }
        let bench = try bench(service)
        #expect(await bench.resume().failedTry != nil)
        let path = folder.path + "/m.obj.part"
        let label = PartLabel(StepKey(stage: "move"), of: JobID("01job"))
        let stopped = try PartFile.open(path, isFresh: false, label: label)
        #expect(await bench.run().finished != nil)
        #expect(folder.read("m.obj") == content)
        #expect(service.ranges == [nil, "bytes=\(5 << 20)-"])
        #expect(pwrite(stopped.descriptor, "not mine any more", 17, 0) == 17)
        #expect(throws: FileFailure.self) { try stopped.rename(to: folder.path + "/m.obj", replaces: true) }
        stopped.remove()
        #expect(folder.read("m.obj") == content)
        #expect(folder.names == ["m.obj"])
    }

    @Test("a part that it holds of which nothing is known begins anew, and that of another job is left alone")
    func begunAnew() async throws {
        let service = try FileService(content)
        let path = folder.path + "/m.obj.part"
        let own = try PartFile.open(path, isFresh: true, label: PartLabel(StepKey(stage: "move"), of: JobID("01job")))
        #expect(pwrite(own.descriptor, "old", 3, 0) == 3)
        #expect(await (try bench(service)).run().finished != nil)
        #expect(folder.read("m.obj") == content)
        withExtendedLifetime(own) {}
        let other = try PartFile.open(path, isFresh: true, label: PartLabel(StepKey(stage: "move"), of: JobID("02job")))
        #expect(await (try bench(service, ", \"overwrite\": true")).run().finished != nil)
        #expect(folder.read("m.obj") == content)
        #expect(folder.read("m.obj.part") == [], "the other's stays")
        withExtendedLifetime(other) {}
    }

    /// A job threw away the whole result that another had paid for, and files that were nobody's part.
    @Test(
        "what stands under the name of its part and is not its own stays, and the download has a name of its own",
        arguments: ["file", "whole", "folder", "link"])
    func foreignParts(kind: String) async throws {
        let path = folder.path + "/m.obj.part"
        switch kind {
        case "file": folder.write("m.obj.part", [1, 2, 3])
        case "whole":
            let whole = try PartFile.open(
                path, isFresh: true, label: PartLabel(StepKey(stage: "move"), of: JobID("02job")))
            #expect(pwrite(whole.descriptor, "whole", 5, 0) == 5)
        case "folder": #expect(mkdir(path, 0o700) == 0)
        default: #expect(symlink("elsewhere", path) == 0)
        }
        let service = try FileService(content) { $0.cuts = [5 << 20] }
        #expect(await (try bench(service)).resume().failedTry != nil)
        #expect(folder.names == ["m.obj.01job-move.part", "m.obj.part"])
        #expect(await (try bench(service)).run().finished != nil)
        #expect(folder.read("m.obj") == content)
        #expect(folder.names == ["m.obj", "m.obj.part"])
        if kind == "file" { #expect(folder.read("m.obj.part") == [1, 2, 3]) }
        if kind == "whole" { #expect(folder.read("m.obj.part") == Array("whole".utf8)) }
        #expect(PartLabel(ofFileAt: folder.path + "/m.obj") == nil)
    }

    /// It was opened as the part, found to be another's, and removed.
    @Test("a file that came into the place of its part since stays, and what had come comes again")
    func placeTaken() async throws {
        let service = try FileService(content) { $0.cuts = [5 << 20] }
        let bench = try bench(service)
        #expect(await bench.resume().failedTry != nil)
        unlink(folder.path + "/m.obj.part")
        folder.write("m.obj.part", [1, 2, 3])
        #expect(await bench.run().finished != nil)
        #expect(folder.read("m.obj") == content && folder.read("m.obj.part") == [1, 2, 3])
        #expect(folder.names == ["m.obj", "m.obj.part"])
    }

    @Test("a part without a mark is its own where its checkpoint knows of it, as those of earlier versions are")
    func unmarked() async throws {
        let service = try FileService(content) { $0.cuts = [5 << 20] }
        let bench = try bench(service)
        #expect(await bench.resume().failedTry != nil)
        let part = try PartFile.open(folder.path + "/m.obj.part", isFresh: false)
        PartLabel.takeOff(part.descriptor)
        part.unlock()
        #expect(await bench.run().finished != nil)
        #expect(service.ranges == [nil, "bytes=\(5 << 20)-"])
        #expect(folder.names == ["m.obj"])
    }

    @Test("a device, a pipe, or a link to one is refused as a target, and never read", arguments: ["pipe", "zero"])
    func irregular(name: String) async throws {
        #expect(mkfifo(folder.path + "/pipe", 0o600) == 0)
        #expect(symlink("/dev/zero", folder.path + "/zero") == 0)
        let service = try FileService(content)
        for more in ["", ", \"overwrite\": true", TransferBench.verifying(content)] {
            let bench = try TransferBench.download(from: service, more, to: name, in: folder)
            #expect(await bench.run().refusal?.contains("a result is a regular file") == true)
        }
        #expect(service.requests.isEmpty)
        #expect(folder.names == ["pipe", "zero"])
    }
}
