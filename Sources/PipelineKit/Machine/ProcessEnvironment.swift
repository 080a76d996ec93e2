import Glibc

/// The environment of the process.
public enum ProcessEnvironment {
    /// All variables; of one that is set twice the first.
    public static var all: [String: String] {
        var variables: [String: String] = [:]
        var entry = environ
        while let pointer = entry.pointee {
            // By scalars: a value may begin with a mark, which makes one Character with the sign before it.
            let text = String(cString: pointer).unicodeScalars
            if let equals = text.firstIndex(of: "=") {
                let name = String(text[..<equals])
                if variables[name] == nil { variables[name] = String(text[text.index(after: equals)...]) }
            }
            entry += 1
        }
        return variables
    }
}
