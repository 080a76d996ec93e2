import PipelineCore

/// Calling stages: each call is a child task, its end a message to the driver.
extension JobExecutor {
    /// Calls the stages of steps that go on without a wait between.
    func goOn(_ group: inout TaskGroup<Void>) {
        for key in continuing.sorted() { launch(key, &group) }
        continuing = []
    }

    func launch(_ key: StepKey, _ group: inout TaskGroup<Void>) {
        guard let stage = plan.stage(key.stage), let step = snapshot.steps[key] else { return }
        // A repeated stage does nothing itself: its items do.
        if stage.forEach != nil, key.item == nil { return }
        let run = StepRun(began: ports.clock.now)
        telling.mayHaveMoved = true
        runs[key] = run
        noteLaunch(of: key, stage)
        let host = StepHost(driver: self, facts: facts(of: key, stage, step), ports: ports, redactor: redactor)
        let beside: (@Sendable () async -> Void)? =
            if stage.stage.work == .transfer { { await host.tellHeldProgress() } } else { nil }
        group.addTask { [mailbox, outlet, checkpoint = step.checkpoint] in
            let result = await run.perform(beside: beside) {
                await stage.stage.resume(checkpoint, host)
            } hasBegun: {
                outlet.acted(on: key)
            }
            mailbox.post(.ended(key, result))
        }
    }
}
