import JSONPath
import PipelineCore

/// A datagram to an owner's socket. It wakes, or tells what may be lost: whatever counts stands in the rows.
enum OwnerMessage: Sendable, Equatable {
    /// The rows of the inbox have something: of the job, or of any.
    case inbox(JobID?)
    /// The other owner wants to be told, for a while, of what happens to the job, or to any.
    case watch(OwnerID, JobID?)
    /// A person watches the job, or any, on a terminal of the other owner's.
    case attend(OwnerID, JobID?)
    /// A person attends to a job of the pipeline: its delays fell back.
    case delaysReset(pipeline: String)
    /// The journal has something new of a watched job.
    case changed(JobID)
    /// An event that a journal does not keep of a watched job: progress, estimates.
    case event(JobEvent)

    var text: String {
        switch self {
        case .inbox(let job): job?.text ?? " "
        case .watch(let owner, let job): "watch \(owner.text) \(job?.text ?? "*")"
        case .attend(let owner, let job): "attend \(owner.text) \(job?.text ?? "*")"
        case .delaysReset(let pipeline): "fellback \(pipeline)"
        case .changed(let job): "changed \(job.text)"
        case .event(let event): event.json.text
        }
    }

    /// Reads what ``text`` wrote; what is anything else names a job whose row nobody finds, which is harmless.
    init(_ text: String) {
        let words = text.split(separator: " ", maxSplits: 3).map(String.init)
        switch words.first {
        case "watch" where words.count == 3:
            self = .watch(OwnerID(words[1]), words[2] == "*" ? nil : JobID(words[2]))
        case "attend" where words.count == 3:
            self = .attend(OwnerID(words[1]), words[2] == "*" ? nil : JobID(words[2]))
        case "fellback" where words.count == 2: self = .delaysReset(pipeline: words[1])
        case "changed" where words.count == 2: self = .changed(JobID(words[1]))
        case _ where text.hasPrefix("{"):
            let event = (try? JSON.parse(text)).flatMap(JobEvent.init(json:))
            self = event.map(OwnerMessage.event) ?? .inbox(nil)
        default: self = .inbox(text == " " ? nil : JobID(text))
        }
    }
}
