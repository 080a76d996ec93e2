#if os(Linux)
    import Foundation
    import PipelineSQLite
    import PipelineTestKit
    import SelfieStudio
    import Testing

    @Suite("A disk that is full, read-only or damaged loses nothing")
    struct BadDiskTests {
        /// True if file systems can be mounted here: as root, and not in every sandbox.
        static let canMount: Bool = {
            guard geteuid() == 0, let folder = try? Workplace() else { return false }
            defer { folder.remove() }
            guard mount("tmpfs", folder.output, "tmpfs", 0, "size=64k") == 0 else { return false }
            return umount2(folder.output, Int32(MNT_DETACH)) == 0
        }()

        @Test(
            "a result that does not fit waits for room, and resume fetches it",
            .enabled(if: canMount, "needs the right to mount a file system"))
        func fullOutput() async throws {
            let content = Array(repeating: UInt8(1), count: 2_000_000)
            let server = try LoopbackServer { _ in .status(200, headers: [("ETag", "\"1\"")], bytes: content) }
            defer { server.stop() }
            try await withWorkplace { workplace in
                try workplace.write("fetch.json", Documents.download)
                try await withMount(workplace.output, "size=256k") {
                    let end = try await workplace.run(
                        "run", "fetch.json", "--output", workplace.output, environment: ["SERVER_URL": server.url])
                    #expect([.exited(1), .exited(75)].contains(end.cause), "\(end)")
                    #expect(end.errors.contains(workplace.output), "\(end)")
                    #expect(end.errors.contains("room"), "\(end)")
                    #expect(end.errors.contains("pipeline resume"), "\(end)")
                    #expect(mount("tmpfs", workplace.output, "tmpfs", UInt(MS_REMOUNT), "size=8m") == 0)
                    let resumed = try await workplace.run("resume", "last", environment: ["SERVER_URL": server.url])
                    #expect(resumed.cause == .exited(0), "\(resumed)")
                    let isSame = workplace.bytes(workplace.output + "/file.bin") == content
                    #expect(isSame)
                }
            }
        }

        @Test(
            "a state folder without room stops the job where its last commit left it",
            .enabled(if: canMount, "needs the right to mount a file system"))
        func fullState() async throws {
            try await withWorkplace { workplace in
                try FileManager.default.createDirectory(atPath: workplace.state, withIntermediateDirectories: false)
                try await withService(in: workplace) { service in
                    try await withMount(workplace.state, "size=8m,mode=0700") {
                        let killed = try await workplace.runSelfie(
                            service, environment: ["PIPELINE_CRASH_AT": "submit.committed"])
                        #expect(killed.cause == .killed(9), "\(killed)")
                        let ballast = workplace.state + "/ballast"
                        fill(ballast)
                        let full = try await workplace.run("resume", environment: service.environment)
                        #expect(full.cause == .exited(75), "\(full)")
                        #expect(
                            full.errors.contains("no space left where jobs are kept: \(workplace.state)"), "\(full)")
                        #expect(full.errors.contains("hint: make room, then go on with 'pipeline resume'"))
                        unlink(ballast)
                        try await workplace.checkMesh(
                            try await workplace.run("resume", environment: service.environment))
                        #expect(service.counters.modelsSubmitted == 1)
                        try await workplace.checkEvents()
                    }
                }
            }
        }

        @Test(
            "a batch whose items find no room in the state folder says so, and resume does what is left",
            .enabled(if: canMount, "needs the right to mount a file system"),
            // Its room ends while rows are read, while an item begins, and where only small commits still find room.
            arguments: [9, 16, 18, 19, 20, 21, 22])
        func fullStateOfABatch(mebibytes: Int) async throws {
            try await withWorkplace { workplace in
                try FileManager.default.createDirectory(atPath: workplace.state, withIntermediateDirectories: false)
                try workplace.write(
                    "note.json",
                    """
                    { "pipeline": 1, "name": "note", "inputs": { "text": { "type": "string", "default": "" } },
                      "stages": [ { "id": "w", "kind": "write", "to": "${{ slug(job.item) }}.txt",
                                    "text": "${{ inputs.text }}" } ] }
                    """)
                try workplace.write("rows.csv", "text\n\(String(repeating: "x", count: 4_000_000))\nsmall\n")
                try await withMount(workplace.state, "size=\(mebibytes)m,mode=0700") {
                    let full = try await workplace.run(
                        "run", "note.json", "--each", "rows.csv", "--batch", "june", "--output", workplace.output)
                    #expect(full.cause == .exited(75), "\(full)")
                    #expect(full.errors.contains("no space left where jobs are kept: \(workplace.state)"), "\(full)")
                    #expect(mount("tmpfs", workplace.state, "tmpfs", UInt(MS_REMOUNT), "size=64m") == 0)
                    let resumed = try await workplace.run("resume")
                    #expect(resumed.cause == .exited(0), "\(resumed)")
                    #expect(workplace.files(below: workplace.output).count == 2)
                }
            }
        }

        @Test(
            "a state folder that can't be written to is refused with its name",
            .enabled(if: canMount, "needs the right to mount a file system"))
        func readOnlyState() async throws {
            try await withWorkplace { workplace in
                try FileManager.default.createDirectory(atPath: workplace.state, withIntermediateDirectories: false)
                try workplace.write("put.json", Documents.put)
                try workplace.write("x", "x")
                try await withMount(workplace.state, "size=2m,mode=0700", flags: UInt(MS_RDONLY)) {
                    let end = try await workplace.run(
                        "run", "put.json", "-i", "file=x", environment: ["SERVER_URL": "http://127.0.0.1:1"])
                    #expect(end.cause == .exited(1), "\(end)")
                    #expect(end.errors.contains("error: cannot write to \(workplace.state)"), "\(end)")
                    #expect(end.errors.contains("hint: name another folder with --state-dir or PIPELINE_STATE_DIR"))
                }
            }
        }

        @Test("a state folder that is a file is refused")
        func stateIsFile() async throws {
            try await withWorkplace { workplace in
                try workplace.write("state", "something else")
                let end = try await workplace.run("list")
                #expect(end.cause == .exited(1) || end.cause == .exited(0), "\(end)")
                try workplace.write("put.json", Documents.put)
                try workplace.write("x", "x")
                let run = try await workplace.run(
                    "run", "put.json", "-i", "file=x", environment: ["SERVER_URL": "http://127.0.0.1:1"])
                #expect(run.cause == .exited(1), "\(run)")
                #expect(run.errors.contains("\(workplace.state) is not a folder"), "\(run)")
                #expect(try String(contentsOfFile: workplace.state, encoding: .utf8) == "something else")
            }
        }

        @Test("a damaged journal is refused and left as it is")
        func damaged() async throws {
            try await withJournal { workplace, journal in
                let garbage = [UInt8](repeating: 0x55, count: 100_000)
                for suffix in ["-wal", "-shm"] { unlink(journal + suffix) }
                try Data(garbage).write(to: URL(filePath: journal))
                for command in ["list", "resume", "show"] {
                    let end = try await workplace.run(command)
                    #expect(end.cause == .exited(1), "\(end)")
                    #expect(end.errors.contains("error: the journal \(journal) is damaged: "), "\(end)")
                    #expect(end.errors.contains("keep a copy, then move it aside"))
                }
                let isSame = workplace.bytes(journal) == garbage
                #expect(isSame, "a damaged journal was written to")
            }
        }

        @Test("a journal of a newer version is refused and left as it is")
        func newer() async throws {
            try await withJournal { workplace, journal in
                try SQLiteConnection(journal, busyTimeout: .seconds(10)).execute("PRAGMA user_version = 999")
                for command in ["list", "resume"] {
                    let end = try await workplace.run(command)
                    #expect(end.cause == .exited(1), "\(end)")
                    #expect(end.errors.contains("was written by a newer version of pipeline"), "\(end)")
                    #expect(end.errors.contains("hint: use that version, or another --state-dir"))
                }
            }
        }

        /// A state folder with one job in it.
        private func withJournal(_ body: (Workplace, String) async throws -> Void) async throws {
            try await withWorkplace { workplace in
                try await withService(in: workplace) { service in
                    let end = try await workplace.runSelfie(service)
                    #expect(end.cause == .exited(0), "\(end)")
                }
                try await body(workplace, workplace.state + "/journal.sqlite")
            }
        }

        private func withMount(
            _ folder: String, _ options: String, flags: UInt = 0, _ body: () async throws -> Void
        ) async throws {
            try #require(mount("tmpfs", folder, "tmpfs", flags, options) == 0)
            defer { umount2(folder, Int32(MNT_DETACH)) }
            try await body()
        }

        /// Takes all the room that there is.
        private func fill(_ path: String) {
            let descriptor = open(path, O_WRONLY | O_CREAT, 0o600)
            defer { close(descriptor) }
            for size in [65536, 4096, 512, 1] {
                let block = [UInt8](repeating: 0, count: size)
                while write(descriptor, block, size) == size {}
            }
        }
    }
#endif
