/// The name of a step within its job: a stage, or one item of a stage's `forEach`.
public struct StepKey: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The stage's id in the document.
    public let stage: String
    /// The item's index from 0; nil for a stage without `forEach`.
    public let item: Int?

    package init(stage: String, item: Int? = nil) {
        self.stage = stage
        self.item = item
    }

    /// `model`, or `model[3]` for an item.
    public var description: String { item.map { "\(stage)[\($0)]" } ?? stage }

    /// The step in a sentence: `stage 'model'`, or `item 3 of stage 'model'`.
    package var words: String { (item.map { "item \($0) of " } ?? "") + "stage '\(stage)'" }

    public static func < (left: StepKey, right: StepKey) -> Bool {
        (left.stage, left.item ?? -1) < (right.stage, right.item ?? -1)
    }
}
