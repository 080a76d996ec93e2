/// The key under which a service recognises a submit that is sent again.
package enum SubmitKey {
    /// A UUID of version 8 (RFC 9562, section 5.8) made from job key, stage, item and generation: the same over
    /// retries, restarts and machines, and accepted by services that want a UUID.
    package static func text(jobKey: String, step: StepKey, generation: Int) -> String {
        let name = "pipeline-submit\n\(jobKey)\n\(step.stage)\n\(step.item.map(String.init) ?? "-")\n\(generation)"
        var digits = Array(SHA256Text.hex(of: name).utf8.prefix(32))
        digits[12] = UInt8(ascii: "8")
        digits[16] = Array("89ab".utf8)[Int(digits[16]) & 3]
        for index in [8, 13, 18, 23] { digits.insert(UInt8(ascii: "-"), at: index) }
        return String(decoding: digits, as: UTF8.self)
    }
}
