import PipelineCore
import Testing

@testable import PipelineKit

@Suite("Addresses of pushes")
struct CallbackAddressesTests {
    private static let token = "7f0c91ab3de85264f01b8a6cc2d93e57"
    private let addresses = CallbackAddresses(base: "https://push.example") { _, _, _ in Self.token }
    private let job = JobID("01m7z8473e0800mmsnpbagb2eh")
    private let step = StepKey(stage: "model")

    private func isTaken(_ token: String) -> Bool { addresses.isGenuine(token, job: job, step: step, own: "key") }

    @Test("the token of an address is taken, and none that differs anywhere")
    func oneDigit() {
        #expect(isTaken(Self.token))
        let digits = Array(Self.token)
        for place in digits.indices {
            for digit in "0123456789abcdef" where digit != digits[place] {
                var forged = digits
                forged[place] = digit
                #expect(!isTaken(String(forged)), "digit \(place) is \(digit)")
            }
        }
    }

    @Test("neither a part of the token is taken, nor one with more behind it, nor a guess")
    func guesses() {
        for count in 0..<Self.token.count { #expect(!isTaken(String(Self.token.prefix(count)))) }
        #expect(!isTaken(Self.token + "0"))
        #expect(!isTaken(Self.token.uppercased()))
        var randomness = SystemRandomNumberGenerator()
        for _ in 0..<10_000 {
            let bits = UInt128.random(in: .min ... .max, using: &randomness)
            let guess = String(repeating: "0", count: bits.leadingZeroBitCount / 4) + String(bits, radix: 16)
            #expect(!isTaken(guess), "\(guess)")
        }
    }

    @Test("an address is found in its path, behind whatever proxy")
    func path() throws {
        let url = try #require(addresses.url(job, StepKey(stage: "model", item: 3), "key"))
        let parsed = try #require(CallbackAddresses.parse(path: "/hooks" + url.dropFirst("https://push.example".count)))
        #expect(parsed.job == job && parsed.step == StepKey(stage: "model", item: 3) && parsed.token == Self.token)
        #expect(CallbackAddresses.parse(path: "/callbacks/\(job)/model") == nil)
    }

    @Test("a stage may be called as the folder of the addresses is", arguments: [nil, 0, 12])
    func sameName(item: Int?) throws {
        let step = StepKey(stage: "callbacks", item: item)
        let url = try #require(CallbackAddresses(base: "https://h/callbacks") { _, _, _ in "t" }.url(job, step, "key"))
        let parsed = try #require(CallbackAddresses.parse(path: String(url.dropFirst("https://h".count))))
        #expect(parsed.job == job && parsed.step == step && parsed.token == "t")
    }
}
