/// Gives the nodes of a query one by one, without ever holding a list of them: each frame is a child of the one beneath
/// it, so the stack is as deep as the document at most, however long the query.
struct NodeCursor {
    private let segments: [PathSegment]
    private var frames: [Frame] = []
    /// The node of a query without segments, until it is given.
    private var whole: JSON?
    /// The last step to the node given last.
    private var last: NormalizedPath.Element?

    /// A node to which a segment is being applied.
    private struct Frame {
        let node: JSON
        /// The step from the frame beneath.
        let element: NormalizedPath.Element?
        let segment: Int
        /// The selector that is being applied; past the last one the children are visited, if the segment descends.
        var selector = 0
        /// The place that was reached in it.
        var position = 0
    }

    private typealias Child = (value: JSON, element: NormalizedPath.Element)

    init(_ segments: [PathSegment], from node: JSON) {
        self.segments = segments
        if segments.isEmpty {
            whole = node
        } else {
            frames.append(Frame(node: node, element: nil, segment: 0))
        }
    }

    /// The place of the node given last, from where the cursor began.
    var path: NormalizedPath {
        var elements = frames.compactMap(\.element)
        if let last { elements.append(last) }
        return NormalizedPath(elements)
    }

    mutating func next(_ evaluation: inout PathEvaluation) throws(JSONPathEvaluationError) -> JSON? {
        if let node = whole {
            whole = nil
            return node
        }
        while let top = frames.indices.last {
            let segment = segments[frames[top].segment]
            let isSelecting = frames[top].selector < segment.selectors.count
            guard let child = try advance(top, segment, &evaluation) else {
                if isSelecting {
                    frames[top].selector += 1
                    frames[top].position = 0
                } else {
                    frames.removeLast()
                }
                continue
            }
            let next = frames[top].segment + (isSelecting ? 1 : 0)
            if next == segments.count {
                last = child.element
                return child.value
            }
            frames.append(Frame(node: child.value, element: child.element, segment: next))
        }
        return nil
    }

    /// The next child that the frame's current selector, or its descent, comes to.
    @inline(__always)
    private mutating func advance(
        _ top: Int, _ segment: PathSegment, _ evaluation: inout PathEvaluation
    ) throws(JSONPathEvaluationError) -> Child? {
        try evaluation.spend(1)
        let position = frames[top].position
        frames[top].position += 1
        guard frames[top].selector < segment.selectors.count else {
            return segment.isDescendant ? try nextContainer(top, &evaluation) : nil
        }
        switch segment.selectors[frames[top].selector] {
        case .wildcard: return child(at: position, of: frames[top].node)
        case .name(let name): return position == 0 ? member(name, of: frames[top].node) : nil
        case .index(let index): return position == 0 ? element(index, of: frames[top].node) : nil
        case .slice(let slice): return element(position, of: slice, in: frames[top].node)
        case .filter(let condition): return try nextMatch(top, condition, &evaluation)
        }
    }

    private func child(at position: Int, of node: JSON) -> Child? {
        switch node {
        case .array(let elements):
            return position < elements.count ? (elements[position], .index(position)) : nil
        case .object(let object):
            guard position < object.members.count else { return nil }
            return (object.members[position].value, .name(object.members[position].name))
        default: return nil
        }
    }

    private func member(_ name: String, of node: JSON) -> Child? {
        guard case .object(let object) = node, let value = object[name] else { return nil }
        return (value, .name(name))
    }

    private func element(_ index: Int, of node: JSON) -> Child? {
        guard case .array(let elements) = node else { return nil }
        let index = index < 0 ? elements.count + index : index
        return elements.indices.contains(index) ? (elements[index], .index(index)) : nil
    }

    private func element(_ position: Int, of slice: PathSlice, in node: JSON) -> Child? {
        guard case .array(let elements) = node else { return nil }
        let (first, count) = slice.indices(in: elements.count)
        guard position < count else { return nil }
        let index = first + position * slice.step
        return (elements[index], .index(index))
    }

    /// The next child that itself can have children: the others have nothing to select from.
    private mutating func nextContainer(
        _ top: Int, _ evaluation: inout PathEvaluation
    ) throws(JSONPathEvaluationError) -> Child? {
        let start = frames[top].position - 1
        var position = start
        while let child = child(at: position, of: frames[top].node) {
            position += 1
            switch child.value {
            case .array, .object:
                frames[top].position = position
                try evaluation.spend(position - start)
                return child
            default: continue
            }
        }
        frames[top].position = position
        try evaluation.spend(position - start)
        return nil
    }

    private mutating func nextMatch(
        _ top: Int, _ condition: PathCondition, _ evaluation: inout PathEvaluation
    ) throws(JSONPathEvaluationError) -> Child? {
        let node = frames[top].node
        var position = frames[top].position - 1
        while let child = child(at: position, of: node) {
            position += 1
            try evaluation.spend(1)
            if try evaluation.holds(condition, for: child.value) {
                frames[top].position = position
                return child
            }
        }
        frames[top].position = position
        return nil
    }
}
