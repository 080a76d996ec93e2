import Foundation
import PipelineTestKit
import Testing

/// A folder for each thing that can go wrong, with all that a person gets to see of it. `RECORD=1` writes it again.
///
/// A case has a shell script `command`, the files that it needs, `server.json` when a server takes part, and
/// `expected.txt`: exit status, standard output and standard error of the script.
@Suite("Messages", .serialized) struct MessageTests {
    @Test("what is printed is as recorded", arguments: MessageCase.names)
    func message(name: String) async throws {
        let message = MessageCase(name: name)
        let seen = try await message.run()
        // Some causes can't be had everywhere: a script says so itself.
        if let reason = seen.skipped { return print("skipped \(name): \(reason)") }
        if ProcessInfo.processInfo.environment["RECORD"] == "1" { try message.record(seen.text) }
        #expect(seen.text == message.expected)
    }

    @Test("every message of a failure says what next, and none names a type of ours")
    func advice() throws {
        let names = MessageCase.names
        #expect(names.count >= 60)
        for name in names {
            let text = try #require(MessageCase(name: name).expected)
            for word in ["Error(", "Failure(", "Optional(", "Swift.", "fatalError", "nil,"] {
                #expect(!text.contains(word), "\(name)")
            }
            guard !text.hasPrefix("status 0") else { continue }
            let isAdvised = ["hint: ", "go on with: ", "then type one of:", "Usage: ", "was cancelled"].contains {
                text.contains($0)
            }
            #expect(isAdvised, "\(name) says nothing of what to do next")
        }
    }
}
