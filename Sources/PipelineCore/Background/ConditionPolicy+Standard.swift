extension ConditionPolicy {
    /// The policies of a program that says nothing else.
    package static let standard = [patience, power, network, quietHours, load, budget]

    /// The time for which work that has no deadline waits for a good moment at most.
    package static let longestWait = Duration.seconds(86_400)

    /// Deadline, expiry and the time it has waited: grows, and at its end ends all vetoes, so that nothing starves.
    package static let patience = ConditionPolicy(name: "patience", weight: 3) { facts in
        let question = facts.question
        let end = min(question.since + longestWait, question.mustBeginBy ?? Timestamp(milliseconds: .max))
        guard facts.now < end else {
            return Opinion(1, .mustProceed, "it can wait no longer than \(end)")
        }
        let whole = max((end - question.since).seconds, 0.001)
        let share = (facts.now - question.since).seconds / whole
        let waited = DurationText.rounded(max(0, (facts.now - question.since).seconds))
        let text = "it has waited \(waited) and may wait until \(end)"
        // Neutral at first, so that a machine of which nothing is known holds nothing back.
        return Opinion(0.5 + share / 2, .mayProceed, text, changes: end)
    }

    /// Power from outside is good; on a battery its level counts, and below a fifth nothing begins.
    package static let power = ConditionPolicy(name: "power", weight: 2) { facts in
        let percent = facts.conditions.battery.map { "\(Int(($0 * 100).rounded())) %" }
        switch (facts.conditions.hasExternalPower, facts.conditions.battery) {
        case (true, let level):
            let isLow = level.map { $0 < 0.1 } ?? false
            return Opinion(isLow ? 0.7 : 1, .mayProceed, "power comes from outside")
        case (false, let level?) where level < 0.2:
            return Opinion(0, .mustNotProceed, "the battery is at \(percent ?? "")")
        case (_, let level?): return Opinion(level * 0.8, .shouldWait, "on battery, at \(percent ?? "")")
        case (false, nil): return Opinion(0.3, .shouldWait, "on battery")
        case (nil, nil): return Opinion(nil, .mayProceed, "nothing is known of the power")
        }
    }

    /// A network that costs by the byte is not for work that can wait.
    package static let network = ConditionPolicy(name: "network", weight: 2) { facts in
        switch facts.conditions.isMetered {
        case true?: Opinion(0, .mustNotProceed, "the network is metered")
        case false?: Opinion(1, .mayProceed, "the network is not metered")
        case nil: Opinion(nil, .mayProceed, "nobody knows whether the network is metered")
        }
    }

    /// In a person's quiet hours nothing begins.
    package static let quietHours = ConditionPolicy(name: "quietHours", weight: 1) { facts in
        guard let hours = facts.conditions.quietHours else {
            return Opinion(nil, .mayProceed, "no quiet hours are set")
        }
        guard let left = hours.minutesLeft(at: facts.conditions.minuteOfDay) else {
            return Opinion(1, .mayProceed, "outside the quiet hours \(hours.text)")
        }
        return Opinion(
            0, .mustNotProceed, "in the quiet hours \(hours.text)", changes: facts.now + .seconds(left * 60))
    }

    /// A machine that is busy with other things is left to them.
    package static let load = ConditionPolicy(name: "load", weight: 1) { facts in
        guard let load = facts.conditions.load else { return Opinion(nil, .mayProceed, "the load is not known") }
        let text = "\((load * 100).rounded() / 100) processes want each processor"
        return Opinion(1.5 - load, load > 1.5 ? .shouldWait : .mayProceed, text)
    }

    /// The more of the budget is left, the better.
    package static let budget = ConditionPolicy(name: "budget", weight: 2) { facts in
        guard let allowance = facts.question.budget.allowance else {
            return Opinion(1, .mayProceed, "the budget is unlimited")
        }
        guard allowance > 0 else { return Opinion(nil, .mayProceed, "the budget has no free resumes") }
        let left = max(0, allowance - facts.used)
        let share = Double(left) / Double(allowance)
        return Opinion(share, left == 0 ? .shouldWait : .mayProceed, "\(left) of \(allowance) resumes are left")
    }
}
