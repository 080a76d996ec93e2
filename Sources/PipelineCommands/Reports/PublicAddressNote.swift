import PipelineCore
import PipelineKit

/// The lines for a person whose document hands out an address for pushes where there is none.
struct PublicAddressNote {
    private let lines: [String]

    /// Nil for a document that hands out none, and where a public address is set.
    ///
    /// - Parameter isDetached: true if another process makes the address: one that is there already, which has its own, or one
    ///   that this command starts.
    init?(of plan: Plan, _ settings: Settings, isDetached: Bool = false) {
        guard plan.handsOutCallbackURL, settings.callbackURL == nil else { return nil }
        if isDetached {
            let isThere = (try? BackgroundOwner(settings: settings).ask(.status)) != nil
            if isThere || settings.journalAddress != nil { return nil }
        }
        lines = [
            "note: no public address is set: self.callbackURL is null, and no service can push to this job",
            "  hint: PIPELINE_CALLBACK_URL=https://…, or \"callbackURL\" of the configuration, says where 'pipeline daemon' "
                + "is reached from outside",
        ]
    }

    func show(on console: Console) { for line in lines { console.note(line) } }
}
