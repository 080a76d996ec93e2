import JSONPath

extension Scope {
    /// Opens what is sealed in captured values, so that a request gets them as the service gave them.
    ///
    /// - Parameter names: the secrets that the job has. A piece of any other name is a service's own text.
    package mutating func open(with sealing: CaptureSealing, names: Set<String>) {
        own = sealing.opened(.object(own)).object ?? own
        item = item.map { sealing.opened($0) }
        stages = stages.mapValues { sealing.opened($0) }
        let values = [JSON.object(own)] + (item.map { [$0] } ?? []) + stages.values
        closed = Set(values.flatMap(\.sealedPieces).map(\.name)).intersection(names)
    }
}
