import Foundation
import JSONPath
import PipelineCore
import PipelineTestKit
import SelfieStudio
import Testing

/// The guides are followed as they stand: their files are written, their commands typed, what is printed is compared.
/// `RECORD=1` writes the answers that differ into the pages.
@Suite(
    "Guides", .timeLimit(.minutes(3)),
    .enabled(if: GuideBench.hasTools, "the guides use curl and jq, which are not installed"))
struct GuideTests {
    @Test("the script and the pipeline of 'From a curl script to a pipeline' make the same file")
    func curlScript() async throws {
        try await GuideBench.withStudio { bench in try await bench.follow(GuidePage(named: "FromACurlScript")) }
    }

    @Test("'When an upload is interrupted' tells what crashes cost, and how a lost submit is settled")
    func interruptedUpload() async throws {
        try await GuideBench.withStudio { bench in
            try await bench.follow(GuidePage(named: "WhenAnUploadIsInterrupted"))
        }
    }

    @Test("'What a resume costs' foretells, holds back and tells why")
    func resumeCosts() async throws {
        try await GuideBench.withStudio({ $0.minimumSeconds = 600 }) { bench in
            try await bench.follow(GuidePage(named: "WhatAResumeCosts"))
        }
    }
}
