import JSONPath

extension Scope {
    /// Opens what is sealed in captured values, so that a request gets them as the service gave them.
    package mutating func open(with sealing: CaptureSealing) {
        own = sealing.opened(.object(own)).object ?? own
        item = item.map { sealing.opened($0) }
        stages = stages.mapValues { sealing.opened($0) }
    }
}
