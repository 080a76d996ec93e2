import ArgumentParser

/// A size or a rate on the command line: `500`, `64KiB`, `2MB`, `2MB/s`. KB, MB, GB are powers of 1000.
struct ByteCount: ExpressibleByArgument, Equatable, Sendable {
    private static let units = [
        "": 1, "B": 1, "KB": 1000, "MB": 1_000_000, "GB": 1_000_000_000,
        "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30,
    ]

    var bytes: Int

    init?(argument: String) {
        let text = argument.hasSuffix("/s") ? argument.dropLast(2) : argument[...]
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int(digits), let unit = Self.units[String(text.dropFirst(digits.count))] else { return nil }
        let (bytes, overflows) = number.multipliedReportingOverflow(by: unit)
        guard bytes > 0, !overflows else { return nil }
        self.bytes = bytes
    }
}
