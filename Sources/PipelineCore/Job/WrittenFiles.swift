/// The files that a job has written, each path once, in the order in which they were written last.
struct WrittenFiles: Sendable {
    /// Those that were written again since are still there, in front.
    private var entries: [WrittenFile]
    /// Where the last of each path is; empty before one is added.
    private var places: [String: Int] = [:]

    /// - Parameter files: each path once.
    init(_ files: [WrittenFile]) { entries = files }

    var all: [WrittenFile] {
        if places.isEmpty || places.count == entries.count { return entries }
        return entries.indices.filter { places[entries[$0].path] == $0 }.map { entries[$0] }
    }

    /// What was written last at a path.
    func last(at path: String) -> WrittenFile? {
        places.isEmpty ? entries.last { $0.path == path } : places[path].map { entries[$0] }
    }

    /// Adds a file; one that was written again goes to the end. Costs the same however many there are.
    mutating func add(_ file: WrittenFile) {
        if places.isEmpty { number() }
        places[file.path] = entries.count
        entries.append(file)
        // Paid for by as many that were written again.
        guard entries.count > 2 * places.count else { return }
        entries = all
        number()
    }

    private mutating func number() {
        places = Dictionary(entries.enumerated().map { ($1.path, $0) }, uniquingKeysWith: { $1 })
    }
}
