package import JSONPath
package import PipelineCore

extension Workspace {
    /// Gives the background owner the values that pushes for a job are verified with, where it listens: it takes them also for
    /// a job that stays with this process. Workers have secrets of their own.
    package func lendSecrets(to job: JobID, plan: Plan, secretInputs: JSONObject) async {
        guard settings.callbackURL != nil, settings.journalAddress == nil,
            plan.stages.contains(where: { $0.stage.callback?.verification != nil }), let secrets = try? self.secrets()
        else { return }
        let values = await HandedValues(of: plan, from: secrets, inputs: secretInputs)
        _ = try? BackgroundOwner(settings: settings).ask(.lend(job, values))
    }

    /// Hands what is still to be told of an ended job to the background owner, which would find it only when it searches
    /// the journal next; false where none listens. Workers look for it themselves.
    package func handNotifications(of job: JobSnapshot, plan: Plan, secretInputs: JSONObject) async -> Bool {
        guard job.ended != nil, job.nextTelling != nil, settings.journalAddress == nil,
            let secrets = try? self.secrets()
        else { return false }
        let values = await HandedValues(of: plan, from: secrets, inputs: secretInputs)
        let owner = BackgroundOwner(settings: settings)
        return (try? owner.ask(.take(job.record.id, values, retriesFailed: false, ended: nil))) != nil
    }
}
