import Synchronization

/// Collects what a journal does otherwise than its port says.
final class ConformanceCheck: Sendable {
    private let found = Mutex<[String]>([])

    var violations: [String] { found.withLock { $0 } }

    func add(_ violation: String) { found.withLock { $0.append(violation) } }

    /// Notes when something is not so.
    func expect(_ isSo: Bool, _ words: String = "", file: String = #fileID, line: Int = #line) {
        if !isSo { add("not so at \(file):\(line)\(words.isEmpty ? "" : ": \(words)")") }
    }

    /// The value, without which nothing more can be tried.
    func require<Value>(_ value: Value?, file: String = #fileID, line: Int = #line) throws -> Value {
        guard let value else { throw MissingValue(description: "nothing is there at \(file):\(line)") }
        return value
    }

    /// Notes when a call does not throw just this.
    func expect<Failure: Error & Equatable>(
        throws failure: Failure, file: String = #fileID, line: Int = #line, _ call: () async throws -> Void
    ) async {
        do { try await call() } catch {
            if error as? Failure != failure { add("\(error) and not \(failure) at \(file):\(line)") }
            return
        }
        add("no failure, and not \(failure), at \(file):\(line)")
    }

    /// Notes when a call does not throw an error of the type.
    func expect<Failure: Error>(
        throws type: Failure.Type, file: String = #fileID, line: Int = #line, _ call: () async throws -> Void
    ) async {
        do { try await call() } catch {
            if !(error is Failure) { add("\(error) at \(file):\(line)") }
            return
        }
        add("no failure at \(file):\(line)")
    }
}

/// Nothing more can be tried without it.
struct MissingValue: Error, CustomStringConvertible {
    let description: String
}
