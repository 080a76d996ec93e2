import JSONPath
import PipelineCore
import PipelineEngine
import PipelineTestKit

extension Schedule {
    /// Everything that must hold at the end, whatever happened on the way.
    mutating func check() {
        let violations = world.recorder.violations + world.server.violations + world.publicationViolations
        for violation in violations { note(violation) }
        if world.simulation.strays > 0 { note("\(world.simulation.strays) calls came from another thread") }
        if world.recorder.hasWritten(World.forbidden) { note("a secret stands in the journal") }
        checkRemoteJobs()
        guard let job = world.recorder.job(world.record.id) else { return note("the job is not in the journal") }
        checkNotifications(of: job)
        switch end {
        case .ended(.ended(.succeeded)):
            checkOutputs(of: job)
            checkFiles()
        case .ended(.ended(.cancelled)) where isCancelled: break
        case .ended(.ended(.failed)) where world.scenario.mayFail: break
        case .ended(.unknown) where world.scenario.mayBeUnknown: break
        default: note("it ended as \(end.map { "\($0)" } ?? "nothing") after \(lives) lives")
        }
    }

    private mutating func checkRemoteJobs() {
        var counts: [String: Int] = [:]
        for job in world.server.jobs { counts[job.tag, default: 0] += 1 }
        for (tag, count) in counts.sorted(by: { $0.key < $1.key }) where count > 1 {
            note("the service has \(count) jobs of one submit, \(tag)")
        }
    }

    /// All that happened was told, once; twice only where a crash came between the sending and its commit.
    private mutating func checkNotifications(of job: JobSnapshot) {
        let events = world.memory.image.events(of: job.record.id)
        let marks = events.filter { $0.kind == .notificationSent }.compactMap { $0.data["id"]?.string }
        if Set(marks).count != marks.count { note("a notification was journaled as sent twice") }
        let told: Set<JobEvent.Kind> = [.jobStarted, .jobSucceeded, .jobFailed]
        let happened = job.notifications.isEmpty ? 0 : events.count { told.contains($0.kind) }
        let rows = job.notifications.values.filter { [.started, .succeeded, .failed].contains($0.event) }
        if rows.count != happened { note("\(rows.count) notifications of \(happened) events") }
        for record in job.notifications.values where job.ended != nil {
            if record.isOpen || record.state == .abandoned { note("\(record.id) is \(record.state.rawValue)") }
            if (record.state == .sent) != marks.contains(record.id) { note("\(record.id) is sent without its event") }
        }
        let deliveries = Dictionary(grouping: world.sinks.deliveries, by: \.notification.id)
        for id in marks where deliveries[id] == nil { note("\(id) was never sent") }
        for (id, all) in deliveries.sorted(by: { $0.key < $1.key }) {
            for delivery in all.dropLast() where !world.wasKilled(delivery.process) {
                note("\(id) was sent again after \(delivery.process.owner.text), which was not killed")
            }
        }
    }

    private mutating func checkFiles() {
        guard let folder = world.folder else { return }
        for (name, text) in world.scenario.files where folder.text(of: name) != text {
            note("the file \(name) is not what the model makes")
        }
        let strangers = folder.names.filter { $0 != "selfie.bin" && world.scenario.files[$0] == nil }
        if !strangers.isEmpty { note("files were left behind: \(strangers)") }
        for upload in world.server.completeUploads where upload != Scenario.video {
            note("an upload is not its source")
        }
    }

    private mutating func checkOutputs(of job: JobSnapshot) {
        for (stage, value) in world.scenario.outputs.sorted(by: { $0.key < $1.key }) {
            guard case .succeeded(let captures) = job.steps[StepKey(stage: stage)]?.state else {
                note("stage \(stage) has not succeeded")
                continue
            }
            if captures["value"]?.string != value {
                note("stage \(stage) captured \(captures), and the model's value is \(value)")
            }
        }
    }
}
