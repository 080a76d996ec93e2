package import JSONPath

/// One value that an expression reads: what the planner checks before anything is sent.
package struct Reference: Sendable, Hashable {
    /// The part of the scope that is read. A name is nil where it is computed, as in `stages.upload[item]`.
    package enum Root: Sendable, Hashable {
        /// `inputs.NAME`
        case input(String)
        /// `env.NAME`
        case environment(String)
        /// `secrets.NAME`
        case secret(String)
        /// `stages.ID.CAPTURE`
        case capture(stage: String, name: String?)
        /// `self.CAPTURE`
        case own(String?)
        /// `self.key`, the idempotency key
        case ownKey
        /// `self.callbackURL`
        case callbackURL
        /// `self.parts.NAME`
        case ownParts(String?)
        /// `item`
        case item
        /// `index`
        case index
        /// `job.id`, `job.key` or `job.started`; its field
        case job(String)
        /// `response.status`, `response.headers` or `response.body`; its field
        case response(String)
        /// `part.number`, `part.offset`, `part.size` or `part.digest(…)`; its field
        case part(String)
        /// `ids`, those that a list is asked for
        case ids
    }

    package let root: Root
    /// The place where it stands in the file.
    package let range: SourceRange
    /// True if null does no harm here: the reference is on the left of `??`, or compared with `null`.
    package let toleratesNull: Bool
    /// True if the expression is the reference alone: null is its value then.
    let isWhole: Bool
    /// True if it is compared with a text that stands beside it.
    let isComparedWithText: Bool
    /// The function that takes it as it is, if one does.
    let function: ExpressionFunction?
    /// The member of it that is asked for first, where that is written as a name: `size` in `item.size`.
    let member: String?

    init(
        root: Root, range: SourceRange, toleratesNull: Bool, isWhole: Bool = false, isComparedWithText: Bool = false,
        function: ExpressionFunction? = nil, member: String? = nil
    ) {
        self.root = root
        self.range = range
        self.toleratesNull = toleratesNull
        self.isWhole = isWhole
        self.isComparedWithText = isComparedWithText
        self.function = function
        self.member = member
    }
}
