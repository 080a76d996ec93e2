/// A whole request as it came.
package struct IncomingRequest: Sendable {
    package let method: String
    /// The path with the query.
    package let target: String
    /// In the order of their coming.
    package let headers: [(name: String, value: String)]
    package let body: [UInt8]
    /// Asks the kernel whether a process of the user who serves has sent it.
    package let isOfOwnUser: @Sendable () -> Bool

    package init(
        method: String, target: String, headers: [(name: String, value: String)], body: [UInt8] = [],
        isOfOwnUser: @escaping @Sendable () -> Bool = { false }
    ) {
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
        self.isOfOwnUser = isOfOwnUser
    }

    /// The target without the query.
    package var path: String { String(target.prefix { $0 != "?" }) }

    /// Behind the question mark, as it came.
    package var query: Substring { target.drop { $0 != "?" }.dropFirst() }

    /// The values of a field.
    package func values(_ name: String) -> [String] {
        let wanted = name.lowercased()
        return headers.filter { $0.name.lowercased() == wanted }.map(\.value)
    }

    /// The value of a field that stands once; nil for none, and for several, which nobody honest sends.
    package func value(_ name: String) -> String? {
        let found = values(name)
        return found.count == 1 ? found[0] : nil
    }
}
