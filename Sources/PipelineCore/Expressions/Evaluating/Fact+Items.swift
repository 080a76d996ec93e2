extension Fact {
    /// The form in which an item's own `now()` and `uuid()` are journaled; facts of files hold for all items.
    package func kept(forItem item: Int) -> Fact {
        switch self {
        case .now(let place): .now(place: "\(place)#\(item)")
        case .uuid(let place): .uuid(place: "\(place)#\(item)")
        case .size, .digest, .text, .base64, .jsonLines, .copy, .kept: self
        }
    }

    /// The fact as an expression of the item names it: the reverse of ``kept(forItem:)``.
    package func ofItem(_ item: Int) -> Fact {
        let suffix = "#\(item)"
        return switch self {
        case .now(let place) where place.hasSuffix(suffix): .now(place: String(place.dropLast(suffix.count)))
        case .uuid(let place) where place.hasSuffix(suffix): .uuid(place: String(place.dropLast(suffix.count)))
        default: self
        }
    }
}
