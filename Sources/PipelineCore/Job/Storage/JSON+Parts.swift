import JSONPath

/// Parts of what a journal keeps, in the form that they have on disk; null for what is not there.
extension JSON {
    init(_ number: Int?) { self = number.map { .number(JSONNumber($0)) } ?? .null }
    init(_ number: Double?) { self = number.map { .number(JSONNumber($0)) } ?? .null }
    init(_ time: Timestamp?) { self = time?.json ?? .null }
    init(_ step: StepKey) { self = step.item.map { [.string(step.stage), JSON($0)] } ?? [.string(step.stage)] }
}

extension JSON? {
    var int: Int { self?.number?.int ?? 0 }
    var time: Timestamp? { Timestamp(json: self) }
    var text: String { self?.string ?? "" }
    var elements: [JSON] { self?.array ?? [] }
    /// The value, or nil where null stands for none.
    var present: JSON? { self?.isNull == true ? nil : self }

    /// A value of an enumeration, by its raw value.
    func word<Word: RawRepresentable>() -> Word? where Word.RawValue == String {
        self?.string.flatMap(Word.init(rawValue:))
    }
}

extension StepKey {
    init?(json: JSON?) {
        guard let parts = json?.array, let stage = parts.first?.string, parts.count <= 2 else { return nil }
        self.init(stage: stage, item: parts.count > 1 ? parts[1].number?.int : nil)
    }
}
