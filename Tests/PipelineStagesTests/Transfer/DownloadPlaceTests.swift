import CLibrary
import JSONPath
import PipelineCore
import PipelineTestKit
import Testing

@testable import PipelineStages

@Suite("The place that a download writes to")
struct DownloadPlaceTests {
    private let folder = TransferFolder()
    private let content = TransferFolder.bytes(10 << 20)

    private func bench(_ service: FileService, _ more: String = "", to: String = "out/mesh.obj") throws -> TransferBench
    {
        try .download(from: service, more, to: to, in: folder)
    }

    @Test("leaves a different file of that name alone and waits as a part, and takes the same one as done")
    func existing() async throws {
        let small: [UInt8] = Array("hello".utf8)
        let service = try FileService(small)
        folder.write("a", small)
        folder.write("b", [1])
        let same = try bench(service, TransferBench.verifying(small), to: "a")
        #expect(await same.resume().finished != nil)
        #expect(service.requests.isEmpty)
        for verify in [TransferBench.verifying(small), ""] {
            let bench = try bench(service, verify, to: "b")
            let different = await bench.resume()
            #expect(different.refusal?.contains("a different file is at") == true)
            #expect(folder.read("b") == [1])
            #expect(folder.read("b.part") == small)
            unlink(folder.path + "/b.part")
        }
        #expect(service.requests.count == 2)
        #expect(await (try bench(service, to: "a")).resume().finished != nil)
        let stated = TransferBench.digestField(small)
        service.change { $0.fields = [stated] }
        #expect(await (try bench(service, to: "a")).resume().finished != nil)
        let stays = try bench(service, to: "b")
        #expect(await stays.resume().refusal?.contains("a different file is at") == true)
        #expect(folder.read("b.part") == small)
        let count = service.requests.count
        stays.state.overwrites = true
        #expect(await stays.resume().finished != nil)
        #expect(service.requests.count == count)
        #expect(folder.read("b") == small)
        #expect(folder.names == ["a", "b"])
    }

    @Test("waits for nobody when a pipe has the name")
    func pipe() async throws {
        let small: [UInt8] = Array("hello".utf8)
        let service = try FileService(small)
        mkfifo(folder.path + "/a", 0o600)
        let refused = await (try bench(service, TransferBench.verifying(small), to: "a")).resume()
        #expect(refused.refusal?.contains("is a pipe, and a result is a regular file") == true)
        #expect(service.requests.isEmpty)
    }

    @Test("never writes into a result, which a part may have become when a process died")
    func linkedPart() async throws {
        let service = try FileService(content) { $0.cuts = [9 << 20] }
        let bench = try bench(service, to: "a")
        #expect(await bench.resume().failedTry != nil)
        // Another job brought the same file, and was killed between its two names.
        folder.write("result", content)
        unlink(folder.path + "/a.part")
        linkat(AT_FDCWD, folder.path + "/result", AT_FDCWD, folder.path + "/a.part", 0)
        let other = TransferFolder.bytes(10 << 20, seed: 2)
        service.change { state in
            state.content = other
            state.cuts = [1 << 20]
        }
        _ = await bench.resume()
        #expect(folder.read("result") == content)
        #expect(await bench.run().finished != nil)
        #expect(folder.read("a") == other)
        #expect(folder.read("result") == content)
    }

    @Test("whose name is taken meanwhile waits as a part until overwriting is allowed")
    func takenMeanwhile() async throws {
        let small: [UInt8] = Array("hello".utf8)
        let service = try FileService(small)
        let bench = try bench(service, to: "a")
        let path = folder.path
        bench.onPass = { point, _ in
            guard point == .downloadVerified else { return }
            close(open(path + "/a", O_CREAT | O_WRONLY, 0o644))
        }
        #expect(await bench.resume().refusal?.contains("a different file is at") == true)
        #expect(folder.read("a.part") == small)
        bench.onPass = { _, _ in }
        bench.state.overwrites = true
        #expect(await bench.resume().finished != nil)
        #expect(folder.read("a") == small)
        #expect(service.requests.count == 1)
    }

    /// With --overwrite the results of a batch replaced each other; without it all of them waited as one part.
    @Test("is never another item's of the batch, which keeps its part too; what came waits as a part of its own")
    func ofAnotherItem() async throws {
        let small: [UInt8] = Array("hello".utf8)
        let service = try FileService(small)
        let path = folder.path + "/mesh.obj"
        for to in ["./", "mesh.obj"] {
            folder.write("mesh.obj", [1])
            folder.write("mesh.obj.part", [2])
            let bench = try bench(service, to: to)
            bench.state.itemLabel = "3"
            bench.state.items = [path: "a"]
            bench.state.overwrites = true
            for _ in 1...2 {
                let failure = await bench.resume().failedTry
                #expect(failure?.kind == .definite)
                #expect(failure?.failure.title == "\(path) is the file of the item 'a', and is not replaced")
                #expect(failure?.failure.hint?.contains("waits as \(path).3-move.part; let \"to\" differ") == true)
                #expect(folder.read("mesh.obj") == [1] && folder.read("mesh.obj.part") == [2])
                #expect(folder.read("mesh.obj.3-move.part") == small)
            }
            // It has the name, and nothing yet.
            unlink(path)
            #expect(await bench.resume().refusal?.contains("the file of the item 'a'") == true)
            #expect(folder.names == ["mesh.obj.3-move.part", "mesh.obj.part"])
            // The very same file is lost to nobody.
            folder.write("mesh.obj", small)
            #expect(await bench.resume().finished != nil)
            #expect(folder.names == ["mesh.obj", "mesh.obj.part"])
        }
        #expect(service.requests.count == 2, "what waits is not fetched again")
    }

    /// It was taken for somebody else's, and stayed beside the result.
    @Test("takes an empty part that a step made and could not label before it was killed")
    func unlabelled() async throws {
        let small: [UInt8] = Array("hello".utf8)
        folder.write("a.part", [])
        let service = try FileService(small)
        let bench = try bench(service, to: "a")
        let end = await bench.run()
        #expect(end.finished != nil, "\(end)")
        #expect(folder.read("a") == small && folder.names == ["a"], "\(folder.names)")
    }

    @Test("that was moved out of another item's way is not fetched again")
    func movedAside() async throws {
        let small: [UInt8] = Array("hello".utf8)
        let service = try FileService(small)
        let path = folder.path + "/mesh.obj"
        folder.write("mesh.obj", [1])
        let bench = try bench(service, to: "mesh.obj")
        bench.state.itemLabel = "3"
        bench.state.items = [path: "a"]
        for _ in 1...2 { #expect(await bench.resume().refusal?.contains("the file of the item 'a'") == true) }
        #expect(folder.names == ["mesh.obj", "mesh.obj.3-move.part"])
        bench.state.items = [:]
        bench.state.overwrites = true
        #expect(await bench.resume().finished != nil)
        #expect(folder.names == ["mesh.obj"] && folder.read("mesh.obj") == small)
        #expect(service.requests.count == 1)
    }

    @Test("of an item whose file the service names waits as a part of its own where another's waits already")
    func ofAnItem() async throws {
        let small: [UInt8] = Array("hello".utf8)
        let service = try FileService(small)
        folder.write("mesh.obj", [1])
        for number in ["1", "2"] {
            let bench = try bench(service, to: "./")
            bench.state.job = "0\(number)job"
            bench.state.itemLabel = number
            let failure = await bench.resume().failedTry?.failure
            let ending = number == "1" ? "" : ".2-move"
            #expect(failure?.hint?.contains("waits as \(folder.path)/mesh.obj\(ending).part: ") == true)
        }
        #expect(folder.names == ["mesh.obj", "mesh.obj.2-move.part", "mesh.obj.part"])
    }

    @Test("into a folder takes the name that the service proposes, made safe")
    func folderName() async throws {
        let small: [UInt8] = Array("hello".utf8)
        let service = try FileService(small) {
            $0.fields = [("Content-Disposition", "attachment; filename=\"../../.evil/.mesh.obj\"")]
        }
        #expect(
            await (try bench(service, to: "out/")).resume().finished?["path"]?.string == folder.path + "/out/mesh.obj")
        service.change { $0.fields = [] }
        #expect(
            await (try bench(service, to: "other/")).resume().finished?["path"]?.string == folder.path
                + "/other/mesh.obj")
    }

    @Test("into a folder resumes too")
    func folderResume() async throws {
        let service = try FileService(content) { $0.cuts = [9 << 20] }
        let bench = try bench(service, to: "out/")
        #expect(await bench.run().finished != nil)
        #expect(folder.read("out/mesh.obj") == content)
        #expect(service.sent == 10 << 20)
    }

    @Test("to a name from an answer stays in its folder")
    func capturedName() async throws {
        let small: [UInt8] = Array("hello".utf8)
        let service = try FileService(small)
        let bench = try TransferBench(
            """
            { "id": "move", "kind": "download", "service": "api", "request": { "GET": "/x" },
              "to": "sub/${{ stages.model.name }}" }
            """, url: service.url, folder: folder.path, captured: ["model": ["name"]])
        bench.captures = ["model": ["name": "../../../tmp/.evil.obj"]]
        #expect(await bench.resume().finished?["path"]?.string == folder.path + "/sub/evil.obj")
    }

    @Test("that finds another one writing to the same place leaves it alone, and waits whole where that was first")
    func locked() async throws {
        let (reached, goOn) = (Gate(), Gate())
        let service = try FileService(content) { $0.half = (reached, goOn) }
        let first = try bench(service)
        let host = first.host(nil)
        let stage = first.stage
        let task = Task { await stage.resume(nil, host) }
        await reached.wait()
        let other = try bench(service)
        other.state.job = "02job"
        let second = await other.resume()
        #expect(second.finished != nil)
        goOn.open()
        #expect(await task.value.finished != nil)
        #expect(folder.read("out/mesh.obj") == content)
        #expect(folder.names == ["out"] && access(folder.path + "/out/mesh.obj.part", F_OK) != 0)
    }

    @Test("never follows a symbolic link at the part's place, nor one at the place of its own name")
    func link() async throws {
        let service = try FileService([1, 2, 3])
        folder.write("victim", [9])
        symlink(folder.path + "/victim", folder.path + "/a.part")
        let own = folder.path + "/a.01job-move.part"
        symlink(folder.path + "/victim", own)
        #expect(await (try bench(service, to: "a")).resume().refusal?.contains("can't write") == true)
        unlink(own)
        #expect(await (try bench(service, to: "a")).resume().finished != nil)
        #expect(folder.read("a") == [1, 2, 3])
        #expect(folder.read("victim") == [9])
    }
}
