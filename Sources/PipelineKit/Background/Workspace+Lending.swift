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
}
