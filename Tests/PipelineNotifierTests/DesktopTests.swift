import Foundation
import JSONPath
import PipelineCore
import PipelineTestKit
import Testing

/// Against a real session bus of its own, on which a small program is the desktop.
@Suite("Notifications on the desktop", .timeLimit(.minutes(2)))
struct DesktopTests {
    private static let programs = ["notify-send", "busctl", "gdbus"]
        .filter { FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)") }
    private static let hasBus = FileManager.default.isExecutableFile(atPath: "/usr/bin/dbus-daemon")

    @Test(
        "the desktop gets the title and the job, whatever characters they have, by each program that is installed",
        .enabled(if: hasBus, "dbus-daemon is not installed"), arguments: programs)
    func shows(program: String) async throws {
        var bench = try SinkBench()
        defer { bench.remove() }
        let bus = try await SessionBus(in: bench.folder)
        defer { bus.stop() }
        let folder = bench.folder.appending(path: "bin")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: folder.appending(path: program).path, withDestinationPath: "/usr/bin/\(program)")
        bench.environment = ["PATH": folder.path, "DBUS_SESSION_BUS_ADDRESS": bus.address]
        let notification = JobNotification(
            id: "n", event: .failed, job: JobID("01jd"), pipeline: "selfie", time: SinkBench.time,
            title: #"--selfie "failed": it's \ »kaputt«"#)
        #expect(try await bench.deliver(#""desktop": true"#, notification) == nil)
        let shown = try JSON.parse(Array((bench.text("shown") ?? "null").utf8))
        #expect(shown == ["pipeline", #"--selfie "failed": it's \ »kaputt«"#, "job 01jd"])
    }

    @Test("without a session bus that is said once; a bus without a desktop on it is tried again later")
    func absent() async throws {
        var bench = try SinkBench()
        defer { bench.remove() }
        bench.environment["XDG_RUNTIME_DIR"] = bench.folder.path
        let none = try #require(try await bench.deliver(#""desktop": true"#))
        #expect(none.message == "there is no session bus, so no desktop to show a notification on")
        #expect(!none.isRetryable, "a machine without a screen is not asked for a day")
        bench.environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=\(bench.folder.path)/bus"
        let dead = try #require(try await bench.deliver(#""desktop": true"#))
        #expect(dead.isRetryable)
        bench.environment["PATH"] = bench.folder.path
        let bare = try #require(try await bench.deliver(#""desktop": true"#))
        #expect(bare.message == "no program that speaks to the desktop is installed")
        #expect(!bare.isRetryable)
    }
}

/// A session bus with a desktop on it that writes what it is told to the file `shown`.
private struct SessionBus {
    struct Failure: Error {}

    let address: String
    private let programs: [RunningProgram]

    init(in folder: URL) async throws {
        address = "unix:path=\(folder.path)/socket"
        let daemon = try BuiltProgram(path: "/usr/bin/dbus-daemon").start(
            ["--session", "--nofork", "--nopidfile", "--print-address", "--address=\(address)"])
        guard await daemon.hasWritten("guid=") else { throw Failure() }
        let script = folder.appending(path: "desktop.py")
        try Self.desktop.write(to: script, atomically: true, encoding: .utf8)
        let desktop = try BuiltProgram(path: "/usr/bin/env").start(
            ["python3", script.path, "\(folder.path)/socket", "\(folder.path)/shown"],
            environment: ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin"])
        guard await desktop.hasWritten("ready") else { throw Failure() }
        programs = [desktop, daemon]
    }

    func stop() { for program in programs { program.signal(SIGTERM) } }

    /// The D-Bus Specification 0.43, as little of it as a desktop needs: EXTERNAL, Hello, RequestName, Notify.
    private static let desktop = #"""
        import json, os, socket, struct, sys
        bus = socket.socket(socket.AF_UNIX)
        bus.connect(sys.argv[1])
        bus.sendall(b"\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\r\n")
        bus.recv(100)
        bus.sendall(b"BEGIN\r\n")
        serial = 0

        def pad(data, size):
            return data + b"\0" * (-len(data) % size)

        def text(value):
            raw = value.encode()
            return struct.pack("<I", len(raw)) + raw + b"\0"

        def send(kind, fields, body):
            global serial
            serial += 1
            array = b""
            for code, sign, value in fields:
                array = pad(array, 8) + bytes([code, 1, ord(sign), 0])
                if sign in "so": array += text(value)
                elif sign == "u": array += struct.pack("<I", value)
                else: array += bytes([len(value)]) + value.encode() + b"\0"
            head = struct.pack("<cBBBIII", b"l", kind, 0, 1, len(body), serial, len(array)) + array
            bus.sendall(pad(head, 8) + body)

        def call(member, sign, body):
            name = "org.freedesktop.DBus"
            fields = [(1, "o", "/org/freedesktop/DBus"), (2, "s", name), (3, "s", member), (6, "s", name)]
            send(1, fields + ([(8, "g", sign)] if sign else []), body)

        def exactly(count):
            data = b""
            while len(data) < count:
                more = bus.recv(count - len(data))
                if not more: sys.exit()
                data += more
            return data

        def receive():
            head = exactly(16)
            size, number, length = struct.unpack("<III", head[4:])
            array = exactly(length + -length % 8)
            body = exactly(size)
            fields, place = {}, 0
            while place < length:
                place += -place % 8
                code, sign = array[place], chr(array[place + 2])
                place += 4
                if sign in "so":
                    count = struct.unpack_from("<I", array, place)[0]
                    fields[code] = array[place + 4:place + 4 + count].decode()
                    place += 5 + count
                elif sign == "u":
                    fields[code] = struct.unpack_from("<I", array, place)[0]
                    place += 4
                else:
                    count = array[place]
                    fields[code] = array[place + 1:place + 1 + count].decode()
                    place += 2 + count
            return head[1], number, fields, body

        def strings(body, signs):
            place, values = 0, []
            for sign in signs:
                place += -place % 4
                count = struct.unpack_from("<I", body, place)[0]
                place += 4
                if sign == "s":
                    values.append(body[place:place + count].decode())
                    place += count + 1
            return values

        call("Hello", "", b"")
        call("RequestName", "su", pad(text("org.freedesktop.Notifications"), 4) + struct.pack("<I", 0))
        replies = 0
        while True:
            kind, number, fields, body = receive()
            if kind == 2:
                replies += 1
                if replies == 2: print("ready", flush=True)
            elif kind == 1 and fields.get(3) == "Notify":
                program, icon, title, line = strings(body, "susss")
                with open(sys.argv[2], "w") as file: json.dump([program, title, line], file)
                send(2, [(5, "u", number), (6, "s", fields[7]), (8, "g", "u")], struct.pack("<I", 1))
            elif kind == 1:
                # What libraries ask first: properties and the like.
                send(3, [(4, "s", "org.freedesktop.DBus.Error.UnknownMethod"), (5, "u", number), (6, "s", fields[7])], b"")
        """#
}
