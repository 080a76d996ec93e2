import PipelineTestKit
import Testing

/// The result of the shipped pipeline when nothing interrupts it, made once.
enum UninterruptedRun {
    static var mesh: [UInt8] { get async throws { try await run.value } }

    private static let run = Task {
        try await inWorkplace { workplace in
            try await withService(in: workplace) { service in
                let end = try await workplace.runSelfie(service)
                try #require(end.cause == .exited(0), "\(end)")
                try #require(end.lines == [workplace.output + "/selfie.obj"])
                return try #require(workplace.bytes(workplace.output + "/selfie.obj"))
            }
        }
    }
}
