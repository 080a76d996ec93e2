import PipelineCore
import PipelineKit

/// The lines for a person whose document hands out an address for pushes where there is none, or nobody who takes them.
struct PublicAddressNote {
    private let lines: [String]

    /// The way in which a job begins that waits for pushes.
    enum Beginning {
        /// It does not: the document is looked at.
        case preview
        case attached
        /// Another process makes the address: one that is there already, which has its own, or one that this command starts.
        case detached
    }

    /// Nil for a document that hands out none, and where a public address is set at which somebody takes pushes.
    init?(of plan: Plan, _ settings: Settings, _ beginning: Beginning) {
        guard plan.handsOutCallbackURL else { return nil }
        let hasAddress = settings.callbackURL != nil
        // Workers take pushes where they are, and their addresses are their own.
        let hasWorkers = settings.journalAddress != nil
        var hasOwner: Bool { (try? BackgroundOwner(settings: settings).ask(.status)) != nil }
        switch beginning {
        case .preview: if hasAddress { return nil }
        case .attached: if hasAddress, hasWorkers || hasOwner { return nil }
        case .detached: if hasAddress || hasWorkers || hasOwner { return nil }
        }
        lines =
            hasAddress
            ? [
                "note: no push can come to this job: 'pipeline daemon', which takes them, does not run",
                "  hint: start it in another terminal, or add --detach, which starts it",
            ]
            : [
                "note: no public address is set: self.callbackURL is null, and no service can push to this job",
                "  hint: PIPELINE_CALLBACK_URL=https://…, or \"callbackURL\" of the configuration, says where "
                    + "'pipeline daemon' is reached from outside",
            ]
    }

    func show(on console: Console) { for line in lines { console.note(line) } }
}
