import PipelineCore

extension JobScheduler {
    /// Asks again at once what is held back of the jobs that a person attends to. Of those that only wait nothing is
    /// done: there may be thousands, and they go on in time.
    func attended(_ attention: OwnerSignal) {
        let named: JobID? = if case .watched(let job) = attention { job } else { nil }
        for job in named.map({ [$0] }) ?? Array(entries.keys) {
            switch entries[job]?.activity {
            case .driven(let drive):
                drive.take(attention)
                // It may have been parked by now.
                if case .watched = attention { entries[job]?.isKnocked = true }
            case .opening: entries[job]?.attentions.append(attention)
            case .queued: release(job, by: attention)
            case nil:
                guard release(job, by: attention) else { continue }
                queue.remove(job)
                enqueue(job)
            }
        }
    }

    /// Takes from a parked job the delay that holds it back; false when none did. One that is watched finds that out
    /// itself, once it is driven.
    @discardableResult private func release(_ job: JobID, by attention: OwnerSignal) -> Bool {
        guard let parked = entries[job]?.parked else { return false }
        switch attention {
        case .watched: return parked.isHeld
        case .delaysReset(let pipeline):
            guard let released = parked.delayReset(pipeline) else { return false }
            entries[job]?.parked = released
            return true
        }
    }
}
