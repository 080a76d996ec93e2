import CLibrary

/// The way in which names of files are read as letters: UTF-8, whatever the locale of the process says. In that of a C program,
/// which is what a process begins with, each byte is a letter of its own.
struct NameLocale: @unchecked Sendable {
    /// Made once and never freed; only read after that. Nil where the system has none for UTF-8.
    private let locale: locale_t?

    static let shared = NameLocale()

    private init() { locale = newlocale(Int32(LC_CTYPE_MASK), "C.UTF-8", nil) }

    /// Does something for which this thread reads letters so.
    func within<Value>(_ body: () -> Value) -> Value {
        guard let locale else { return body() }
        let before = uselocale(locale)
        defer { uselocale(before) }
        return body()
    }
}
