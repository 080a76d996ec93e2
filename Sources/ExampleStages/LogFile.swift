import Foundation
import PipelineKit

/// A sink: adds a line for each notification to a file. In a document: `{ "logFile": "/tmp/jobs.log" }`.
struct LogFile: NotificationSink {
    let path: String

    static let kind = NotificationSinkKind(
        name: "logFile", summary: "Adds a line to a file.", schema: FieldType<Template>.template().schema
    ) { place, findings in
        FieldType<Template>.template().read(place, findings).map { path in
            NotificationSinkTemplate(name: "logFile") { scope throws(EvaluationFailure) in
                LogFile(path: try path.evaluateText(in: scope))
            }
        }
    }

    func deliver(_ notification: JobNotification) async throws(NotificationFailure) {
        do {
            if !FileManager.default.fileExists(atPath: path) {
                try Data().write(to: URL(fileURLWithPath: path))
            }
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            defer { try? file.close() }
            try file.seekToEnd()
            try file.write(contentsOf: Data("\(notification.time) \(notification.title)\n".utf8))
        } catch {
            throw NotificationFailure("can't write \(path)", hint: "check \"logFile\"", isRetryable: true)
        }
    }
}
