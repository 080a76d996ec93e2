/// Counts the body of one request that carries an upload, and knows when it is to be cut.
struct UploadMeter {
    /// The upload's number in the counters; nil if the upload is not, or no longer, known.
    var number: Int?
    var faults: FaultPlan
    /// The transfer that is counted, the same for each try; nil until it is known, and for bodies that are not taken.
    var transfer: String?
    /// Bytes of this request taken so far.
    var bytes = 0

    /// The number of bytes that this request may still bring before it is cut.
    var room: Int {
        guard let transfer, let limit = faults.cut(transfer) else { return .max }
        return max(0, limit - bytes)
    }

    func noteCut() {
        if let transfer { faults.wasCut(transfer) }
    }
}
