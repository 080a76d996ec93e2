import CLibrary
import JSONPath
import Logging
import PipelineCore
import PipelineKit

extension LogLevel {
    var level: Logger.Level { Logger.Level(rawValue: rawValue) ?? .info }
}

/// Writes events as lines on standard error, each with one call, so that lines of several processes never mix.
struct LineLogHandler: LogHandler {
    let clock: any WallClock
    let format: LogFormat
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let fields = metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }
            .map { ($0.key, "\($0.value)") }
        let all =
            [("time", clock.now.description), ("level", event.level.rawValue), ("msg", event.message.description)]
            + fields
        let line: String
        switch format {
        case .logfmt: line = all.map { "\($0)=\(Self.quoted($1))" }.joined(separator: " ")
        case .json: line = JSON.object(JSONObject(all.map { ($0, .string($1)) })).text
        }
        let bytes = Array((line + "\n").utf8)
        _ = bytes.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    /// A value as it is, in quotes where it has a space, a quote, an equals sign or a control character, or is empty.
    static func quoted(_ value: String) -> String {
        let isPlain =
            !value.isEmpty
            && value.unicodeScalars.allSatisfy {
                $0.value > 0x20 && $0.value != 0x7F && $0 != "\"" && $0 != "=" && $0 != "\\"
            }
        if isPlain { return value }
        var text = "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\t": text += "\\t"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                text += "\\u00" + String(scalar.value + 0x100, radix: 16).dropFirst()
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text + "\""
    }
}
