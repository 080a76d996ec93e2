import JSONPath

/// The text of a notification: one line for people, and data for programs.
enum NotificationText {
    static func title(of event: JobEvent, _ told: NotifyDefinition.Event) -> String {
        let name = event.pipeline
        switch told {
        case .started: return "\(name) started"
        case .succeeded: return "\(name) succeeded"
        case .failed: return "\(name) failed" + (event.data["error"]?["title"]?.string.map { ": \($0)" } ?? "")
        case .unknown:
            let step = event.step.map(\.description) ?? ""
            return "\(name) needs you: it is not known whether the service took the submit of '\(step)'"
        case .deferred:
            let until = event.data["until"]?.string.map { " until \($0)" } ?? ""
            return "\(name) waits\(until)" + (event.data["reason"]?.string.map { ": \($0)" } ?? "")
        case .estimated, .late: return title(of: told, name)
        }
    }

    static func title(of told: NotifyDefinition.Event, _ pipeline: String) -> String {
        switch told {
        case .late: "\(pipeline) takes longer than 99 of 100 such jobs"
        default: "\(pipeline) is expected to have ended by now"
        }
    }

    static func data(of event: JobEvent, _ told: NotifyDefinition.Event, _ job: JobSnapshot) -> JSONObject {
        var data = event.data
        if let step = event.step {
            data["stage"] = .string(step.stage)
            if let item = step.item { data["item"] = .number(JSONNumber(item)) }
        }
        if told == .succeeded { data["files"] = .array(job.orderedFiles.map(\.json)) }
        if told == .unknown { data["resolve"] = .string("pipeline resolve \(event.job)") }
        return data
    }
}
