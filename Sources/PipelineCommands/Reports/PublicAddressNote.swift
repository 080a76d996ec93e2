import PipelineCore
import PipelineKit

/// The lines for a person whose document hands out an address for pushes where there is none.
struct PublicAddressNote {
    private let lines: [String]

    /// Nil for a document that hands out none, and where a public address is set.
    init?(of plan: Plan, _ settings: Settings) {
        guard plan.handsOutCallbackURL, settings.callbackURL == nil else { return nil }
        lines = [
            "note: no public address is set: self.callbackURL is null, and no service can push to this job",
            "  hint: PIPELINE_CALLBACK_URL=https://…, or \"callbackURL\" of the configuration, says where 'pipeline daemon' "
                + "is reached from outside",
        ]
    }

    func show(on console: Console) { for line in lines { console.note(line) } }
}
