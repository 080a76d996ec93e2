/// What the keys of a step's submits are made from: the same over retries, restarts, machines and lost journals.
package struct SubmitName: Sendable, Hashable {
    /// The job's key.
    package let jobKey: String
    /// What the job's inputs were; nil for a job whose keys don't tell.
    package let inputDigest: String?
    /// True for the job of a batch's item.
    package let isItem: Bool
    package let step: StepKey

    package init(jobKey: String, inputDigest: String? = nil, isItem: Bool = false, step: StepKey) {
        self.jobKey = jobKey
        self.inputDigest = inputDigest
        self.isItem = isItem
        self.step = step
    }

    /// The key under which a service recognises a submit that is sent again: a UUID of version 8 (RFC 9562, section 5.8),
    /// accepted by services that want a UUID.
    package func key(ofGeneration generation: Int) -> String {
        var job = jobKey
        // The digest tells the item.
        if isItem, inputDigest != nil, let end = jobKey.lastIndex(of: ".") { job = String(jobKey[..<end]) }
        var name = "pipeline-submit\n\(job)\n\(step.stage)\n\(step.item.map(String.init) ?? "-")\n\(generation)"
        if let inputDigest { name += "\n\(inputDigest)" }
        var digits = Array(SHA256Text.hex(of: name).utf8.prefix(32))
        digits[12] = UInt8(ascii: "8")
        digits[16] = Array("89ab".utf8)[Int(digits[16]) & 3]
        for index in [8, 13, 18, 23] { digits.insert(UInt8(ascii: "-"), at: index) }
        return String(decoding: digits, as: UTF8.self)
    }
}
