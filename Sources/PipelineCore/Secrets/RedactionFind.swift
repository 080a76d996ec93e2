/// A secret that was found: where it stands in the text as it is, in bytes.
struct RedactionFind: Hashable {
    let start: Int
    let end: Int
    let name: String

    /// Finds that overlap made into one, under the name of the longest, in the order of the text.
    static func merged(_ finds: [RedactionFind]) -> [RedactionFind] {
        var merged: [RedactionFind] = []
        var longest = 0
        for find in finds.sorted(by: { ($0.start, $1.end) < ($1.start, $0.end) }) {
            guard let last = merged.last, find.start < last.end else {
                merged.append(find)
                longest = find.end - find.start
                continue
            }
            let isLonger = find.end - find.start > longest
            longest = max(longest, find.end - find.start)
            merged[merged.count - 1] = RedactionFind(
                start: last.start, end: max(last.end, find.end), name: isLonger ? find.name : last.name)
        }
        return merged
    }
}
