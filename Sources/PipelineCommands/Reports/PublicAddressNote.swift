import PipelineCore
import PipelineKit

/// The lines for a person whose document hands out an address for pushes where there is none, or nobody who takes them.
struct PublicAddressNote {
    private let lines: [String]

    /// Nil for a document that hands out none, and where a public address is set at which somebody takes pushes.
    ///
    /// - Parameter isDetached: true if another process makes the address: one that is there already, which has its own, or one
    ///   that this command starts.
    init?(of plan: Plan, _ settings: Settings, isDetached: Bool = false) {
        guard plan.handsOutCallbackURL else { return nil }
        // Workers take them, and have addresses of their own.
        let isElsewhere = settings.journalAddress != nil && (isDetached || settings.callbackURL != nil)
        if isElsewhere || isDetached && settings.callbackURL != nil { return nil }
        if isDetached || settings.callbackURL != nil {
            if (try? BackgroundOwner(settings: settings).ask(.status)) != nil { return nil }
        }
        if settings.callbackURL != nil {
            lines = [
                "note: no push can come to this job: 'pipeline daemon', which takes them, does not run",
                "  hint: start it in another terminal, or add --detach, which starts it",
            ]
            return
        }
        lines = [
            "note: no public address is set: self.callbackURL is null, and no service can push to this job",
            "  hint: PIPELINE_CALLBACK_URL=https://…, or \"callbackURL\" of the configuration, says where 'pipeline daemon' "
                + "is reached from outside",
        ]
    }

    func show(on console: Console) { for line in lines { console.note(line) } }
}
