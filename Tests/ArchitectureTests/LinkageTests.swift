import Foundation
import Testing

/// Foundation brings ICU, whose data is larger than a whole program of ours and is read at each start. Only its
/// essentials are linked, which swift-crypto needs.
@Suite("What the programs are linked with") struct LinkageTests {
    static let programs = ["pipeline", "pipeline-daemon", "example-network"]

    @Test("no Foundation but its essentials, and no ICU", arguments: programs)
    func libraries(program: String) throws {
        let libraries = try Self.readelf("--dynamic", program).filter { $0.contains("(NEEDED)") }
        #expect(libraries.contains { $0.contains("libc.so") }, "readelf says something else: \(libraries)")
        // They bring dozens along, libarchive even ICU: they are opened by the first call.
        for late in ["libcurl", "libcrypto", "libarchive", "libpq"] {
            #expect(!libraries.contains { $0.contains(late) }, "\(program) needs \(late)")
        }
        for library in libraries where !library.contains("[libFoundationEssentials.so]") {
            #expect(!library.contains("Foundation") && !library.contains("icu"), "\(program) needs \(library)")
        }
    }

    @Test("nothing of Foundation beyond its essentials, and nothing of ICU is called", arguments: programs)
    func symbols(program: String) throws {
        let symbols = try Self.readelf("--dyn-syms", program)
        #expect(symbols.contains { $0.contains("dlopen") })
        // libcurl's own calls must find its own functions.
        #expect(!symbols.contains { $0.contains(" curl_") })
        // `10Foundation` and `20FoundationEssentials` are the modules' names in Swift's symbols.
        let ours = symbols.filter { $0.contains("10Foundation") || $0.contains("_foundation_unicode") }
        #expect(ours.isEmpty, "\(program) calls \(ours.prefix(5))")
    }

    /// The lines of readelf(1) about a program that was built with these tests.
    private static func readelf(_ option: String, _ program: String) throws -> [String] {
        let folder = Bundle.main.bundleURL.path
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["readelf", "--wide", option, "\(folder)/\(program)"]
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "readelf can't read \(program)")
        return text.components(separatedBy: "\n")
    }
}
