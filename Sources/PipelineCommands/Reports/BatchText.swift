import JSONPath
import PipelineCore
import PipelineKit

/// A batch in words and in JSON.
struct BatchText {
    let key: String
    let batch: BatchRecord
    /// The services that take nothing now.
    var closed: [ClosedService] = []

    /// One line of counts: all, and what is not as it should be. Between two polls an item waits: in words it runs on.
    var counts: String {
        let total = batch.itemCount
        var parts = ["\(batch.count(.succeeded))/\(total)\(batch.isRead ? "" : "+") succeeded"]
        for state in [ItemRecord.State.failed, .cancelled, .unknown, .suspended, .running, .pending, .duplicate] {
            let count = state == .running ? batch.underWayCount : batch.count(state)
            if count == 0 { continue }
            let word = state == .duplicate ? (count == 1 ? "duplicate" : "duplicates") : state.rawValue
            let aside = batch.aside[state] ?? 0
            let before = aside == 0 ? "" : " (\(aside == count ? "" : "\(aside) of them ")before this reading)"
            parts.append("\(count) \(word)\(before)")
        }
        return "\(key): " + parts.joined(separator: ", ")
    }

    /// The line about items that were to begin and that no row names any more; nil for none.
    var leftAside: String? {
        guard let count = batch.aside[.pending], count > 0 else { return nil }
        let (are, begin, them) = count == 1 ? ("item is", "begins", "it") : ("items are", "begin", "them")
        return
            "\(count) \(are) pending and \(begin) no more, for no row of the last reading names \(them): run the batch "
            + "again with rows that do"
    }

    /// The short form of `list`: `412/5000  ✗3  ?1`, with those that failed and those that are unknown.
    var brief: String {
        let (failed, unknown) = (batch.count(.failed), batch.count(.unknown))
        let done = "\(batch.endedCount)/\(batch.itemCount)\(batch.isRead ? "" : "+")"
        return done + (failed > 0 ? "  ✗\(failed)" : "") + (unknown > 0 ? "  ?\(unknown)" : "")
    }

    /// The sentence about a batch whose pipe broke off.
    var cut: String {
        let count = batch.itemCount == 1 ? "1 item was" : "\(batch.itemCount) items were"
        return "suspended (\(count) read of its standard input before it was cut); "
            + "run the same command again: it adds the rest, and what is done stays done"
    }

    /// The name of an item as a JOB.
    func path(of item: String) -> String { ShellWord.quoted("\(key)/\(item)") }

    func line(of group: FailureGroup) -> String {
        let place = group.stage.map { " at \($0)" } ?? ""
        let code = group.status == nil || group.message.contains(group.code) ? "" : "\(group.code) "
        let row = group.place.map { " (\($0))" } ?? ""
        return "✗ \(group.count)\(place): \(code)\(group.message)  e.g. \(group.example)\(row) — "
            + "pipeline show \(path(of: group.example))"
    }

    /// The counts by state, all of them.
    var countsJSON: JSON {
        .object(JSONObject(ItemRecord.State.allCases.map { ($0.rawValue, .number(JSONNumber(batch.count($0)))) }))
    }

    /// The services that take nothing now; one whose time is past may take something.
    func closedJSON(at now: Timestamp) -> JSON { .array(closed.filter { $0.opens(at: now) > now }.map(\.json)) }

    /// The batch as `list --json` tells it.
    func summary(_ job: OwnedJob, now: Timestamp) -> JSONObject {
        let snapshot = job.snapshot
        let rate = job.itemRate(at: now)
        let remaining = batch.itemCount - batch.endedCount
        return [
            "batch": .string(key), "job": .string(snapshot.record.id.text),
            "pipeline": .string(snapshot.record.pipeline), "key": .string(key),
            "state": .string(job.phase.rawValue),
            "cause": JSON(job.suspension?.rawValue),
            "started": .string(snapshot.record.started.description), "ended": JSON(snapshot.ended?.description),
            "counts": countsJSON, "rate": rate.map { .number(JSONNumber($0)) } ?? .null,
            "left": rate.map { .number(JSONNumber(Double(remaining) / $0)) } ?? .null,
            "bytesSent": .number(JSONNumber(Int(batch.moved.sent))),
            "bytesReceived": .number(JSONNumber(Int(batch.moved.received))),
            "cost": batch.cost.map { .number(JSONNumber($0)) } ?? .null, "closed": closedJSON(at: now),
        ]
    }

    /// A line of `--json` that tells of the whole batch, with the groups of its failures at its end.
    func event(
        _ type: String, _ record: JobRecord, cause: SuspensionCause? = nil, failures: [FailureGroup]? = nil
    ) -> String {
        var data: JSONObject = ["counts": countsJSON]
        if let cause { data["cause"] = .string(cause.rawValue) }
        if let failures { data["failures"] = .array(failures.map(\.json)) }
        return event(type, record, data: data)
    }

    /// A line of `--json` with values of its own.
    func event(_ type: String, _ record: JobRecord, data values: JSONObject) -> String {
        let data = JSONObject([("batch", .string(key))] + values.map { ($0.name, $0.value) })
        let event: JSON = [
            "time": .string(SystemClock().now.description), "type": .string(type), "job": .string(record.id.text),
            "pipeline": .string(record.pipeline), "data": .object(data),
        ]
        return event.text
    }

    /// The lines of `show`.
    ///
    /// - Parameters:
    ///   - advice: what to do about a batch that nobody has and that goes on without being told; nil for others.
    ///   - retry: how what failed begins again; nil for nothing.
    func lines(
        _ job: OwnedJob, failures: [FailureGroup], advice: String?, retry: String?, now: Timestamp
    ) -> [StyledText] {
        let snapshot = job.snapshot
        let phase = job.phase
        let clock = TimeText(now: now)
        let cause = job.suspension
        let why = job.suspensionText.map { " (\($0))" } ?? ""
        var lines: [StyledText] = [
            "batch     \(key)  job \(snapshot.record.id)",
            "pipeline  \(snapshot.record.pipeline)  (\(snapshot.record.sourceName))",
            "state     \(phase.rawValue, phase.style)\(why)",
            "started   \(clock.dated(snapshot.record.started))",
        ]
        if let ended = snapshot.ended {
            let length = DurationText.rounded(ended.seconds(since: snapshot.record.started))
            lines.append("ended     \(clock.dated(ended)), after \(length)")
        }
        if let rate = job.itemRate(at: now), rate > 0 {
            let left = DurationText.rounded(Double(batch.itemCount - batch.endedCount) / rate)
            lines.append("rate      \(Int(rate * 3600)) an hour, about \(left) left")
        }
        let (sent, received) = (batch.moved.sent, batch.moved.received)
        if sent + received > 0 {
            lines.append("bytes     \(SizeText.describe(sent)) sent, \(SizeText.describe(received)) received")
        }
        if let cost = batch.cost {
            let limit = batch.settings.spend.map { " of \(AmountText.describe($0))" } ?? ""
            lines.append("cost      \(AmountText.describe(cost))\(limit)")
        }
        for service in closed { lines.append("closed    \(service.line(now: now))") }
        lines += ["", StyledText(counts)]
        for group in failures { lines.append(StyledText(line(of: group))) }
        if let advice {
            lines.append(StyledText(advice))
        } else if let cause {
            lines.append(StyledText(batch.invitation(after: cause, key)))
        } else if phase == .unknown, let advice = job.batchAdvice {
            lines.append(StyledText(advice))
        }
        if phase != .unknown, batch.count(.unknown) > 0 {
            lines.append(
                "see at the service what became of the unknown ones, then: pipeline resolve \(key) --resubmit or --abandon"
            )
        }
        if let retry { lines.append(StyledText(retry)) }
        if let leftAside { lines.append(StyledText(leftAside)) }
        return lines
    }
}

extension FailureGroup {
    /// The form of `show --json` and of the event at the end.
    var json: JSON {
        [
            "stage": JSON(stage), "code": .string(code), "count": .number(JSONNumber(count)),
            "example": .string(example), "message": .string(message),
        ]
    }
}

extension ClosedService {
    /// The form of `show --json` and `list --json`.
    var json: JSON { ["service": .string(name), "until": .string(until.description)] }

    /// Which one, until when, for people.
    func line(now: Timestamp) -> String {
        let clock = TimeText(now: now)
        let time = opens(at: now)
        return time > now
            ? "service '\(name)' takes no requests until \(clock.clock(time)), \(clock.until(time))"
            : "service '\(name)' took no requests until \(clock.clock(time)); the next one finds out"
    }
}

/// A word for a shell.
enum ShellWord {
    /// The word in quotes where it needs them.
    static func quoted(_ word: String) -> String {
        let isPlain = word.utf8.allSatisfy { $0.isASCIIAlphanumeric || "+,-./:@_".utf8.contains($0) || $0 >= 0x80 }
        return isPlain && !word.isEmpty ? word : CurlLine.quoted(word)
    }
}
