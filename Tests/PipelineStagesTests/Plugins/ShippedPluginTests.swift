import JSONPath
import PipelineCore
import PipelineStages
import PipelineTestKit
import Testing

@Suite("The plugins that are installed with pipeline", .serialized, .timeLimit(.minutes(3)))
struct ShippedPluginTests {
    /// A video of 4:2:0 with so many frames of 8 × 4 pixels, each pixel another.
    private static func video(frames: Int) -> String {
        var text = "YUV4MPEG2 W8 H4 F25:1 Ip A1:1 C420jpeg\n"
        for frame in 0..<frames {
            text += "FRAME\n" + (0..<48).map { String(UnicodeScalar(UInt8(33 + ($0 + frame) % 90))) }.joined()
        }
        return text
    }

    private static let transcode = #""file": "in.y4m", "to": "out.y4m", "scale": 2, "every": 4"#

    @Test("A video becomes smaller, frame by frame, with progress")
    func transcodes() async throws {
        let bench = try PluginBench(programs: PluginBench.shipped)
        try bench.folder.write("in.y4m", Self.video(frames: 10))
        let captures = try #require(try await bench.resume(Self.transcode, kind: "transcode").captures)
        #expect(captures["frames"] == 10)
        #expect(captures["width"] == 4)
        let output = try #require(bench.folder.read("out.y4m"))
        #expect(output.hasPrefix("YUV4MPEG2 W4 H2 F25:1 Ip A1:1 C420jpeg\nFRAME\n!#%'1357"))
        #expect(output.utf8.count == captures["bytes"]?.number?.int)
        #expect(bench.host.read(\.progress).count == 10)
    }

    @Test("After a crash it goes on at its last checkpoint, and the result is the same", arguments: [1, 2, 3])
    func goesOn(commits: Int) async throws {
        let whole = try PluginBench(programs: PluginBench.shipped)
        let broken = try PluginBench(programs: PluginBench.shipped)
        for bench in [whole, broken] { try bench.folder.write("in.y4m", Self.video(frames: 14)) }
        try await whole.resume(Self.transcode, kind: "transcode")
        let dying = StoppingHost(broken.host, dyingAfter: commits)
        let first = try await broken.resume(Self.transcode, kind: "transcode", through: dying)
        guard case .failure(.journal) = first else {
            Issue.record("it did not die")
            return
        }
        #expect(broken.kept?.hasPrefix(#"{"frames":\#(commits * 4),"#) == true)
        #expect(broken.folder.read("out.y4m") == nil)
        broken.host.read { $0.progress = [] }
        #expect(try await broken.resume(Self.transcode, kind: "transcode").captures?["frames"] == 14)
        #expect(broken.host.read(\.progress).count == 14 - commits * 4)
        #expect(broken.folder.read("out.y4m") == whole.folder.read("out.y4m"))
    }

    @Test("A video that has changed since is never spliced")
    func changed() async throws {
        let bench = try PluginBench(programs: PluginBench.shipped)
        try bench.folder.write("in.y4m", Self.video(frames: 10))
        try await bench.resume(Self.transcode, kind: "transcode", through: StoppingHost(bench.host, dyingAfter: 1))
        try bench.folder.write("in.y4m", Self.video(frames: 11))
        let failed = try #require(try await bench.resume(Self.transcode, kind: "transcode").failed)
        #expect(failed.failure.title == "the video has changed since the last attempt")
    }

    @Test("A command's arguments arrive as they are, without a shell")
    func command() async throws {
        let bench = try PluginBench(programs: PluginBench.shipped)
        let arguments = #""command": ["printf", "%s|", "a b", "$HOME", "it's \"q\"", "ä\nb", "*"], "input": "x""#
        let captures = try await bench.resume(arguments, kind: "command").captures
        #expect(captures == ["status": 0, "output": "a b|$HOME|it's \"q\"|ä\nb|*|"])
    }

    @Test("A shell is used when asked for; its status counts, its standard error is the log")
    func shell() async throws {
        let bench = try PluginBench(programs: PluginBench.shipped)
        let script = #""shell": "echo hidden >&2; cat; echo $X; exit 3", "input": "in ", "environment": {"X": "out"}"#
        let failed = try #require(try await bench.resume(script, kind: "command").failed)
        #expect(failed.failure.title == "'sh' ended with status 3")
        #expect(failed.failure.body == "hidden")
        let captures = try await bench.resume(script + #", "accept": [0, 3]"#, kind: "command").captures
        #expect(captures == ["status": 3, "output": "in out"])
    }

    @Test("A command that takes too long is ended, and nothing of it is left")
    func timeOut() async throws {
        let bench = try PluginBench(programs: PluginBench.shipped)
        let script = #""shell": "echo $$ | tr -d '\\n' > self; sleep 600", "timeout": "1s""#
        let failed = try #require(try await bench.resume(script, kind: "command").failed)
        #expect(failed.failure.title == "'sh' did not end within 1s")
        #expect(try !bench.runs("self"))
    }

    @Test("A command needs one of \"command\" and \"shell\"")
    func neither() async throws {
        let bench = try PluginBench(programs: PluginBench.shipped)
        #expect(try await bench.report(#""timeout": "1s""#, kind: "command").contains("none of the 2 forms"))
        #expect(try await bench.report(#""command": ["a"], "timeout": "1 s""#, kind: "command").contains("timeout"))
    }
}
