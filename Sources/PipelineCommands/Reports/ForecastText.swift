import JSONPath
import PipelineCore

/// The text about what a plan would cost in the background, for people and programs.
struct ForecastText {
    private let forecast: BackgroundForecast

    init(_ forecast: BackgroundForecast) { self.forecast = forecast }

    /// One line a stage, the sum, the budget, and what would save a resume.
    var lines: [String] {
        let stages = forecast.stages.map { stage in
            let reasons = stage.resumes.map { resume in
                resume.reason.sentence + (resume.count > 1 ? " (\(resume.count) times)" : "")
            }
            let delay = stage.delay > .zero ? ", delayed by \(DurationText.describe(stage.delay))" : ""
            let moment = stage.isDiscretionary ? ", waits for a good moment" : ""
            let why = reasons.isEmpty ? "" : ": " + reasons.joined(separator: ", ")
            return "  \(stage.id): \(Self.count(stage.count))\(why)\(delay)\(moment)"
        }
        let delay = forecast.delay > .zero ? DurationText.describe(forecast.delay) : "nothing"
        return ["in the background:"] + stages
            + ["  in all: \(Self.count(forecast.resumes)), which delay it by \(delay)", "  budget: \(budget)"]
            + forecast.advice.map { "  advice: \($0)" }
    }

    private static func count(_ number: Int) -> String { number == 1 ? "1 resume" : "\(number) resumes" }

    private var budget: String {
        let budget = forecast.budget
        guard let allowance = budget.allowance else { return "unlimited" }
        let free =
            allowance == 0
            ? "no free resumes" : "\(allowance) resumes in \(DurationText.describe(budget.window)) without delay"
        let factor = Int(exactly: budget.factor).map(String.init) ?? "\(budget.factor)"
        return "\(free), then \(DurationText.describe(budget.base)), each further one \(factor) times as much, "
            + "at most \(DurationText.describe(budget.maximum))"
    }

    /// The form of `plan --json` with the forecast's members in their places.
    func adding(to plan: JSON) -> JSON {
        guard var object = plan.object else { return plan }
        let stages = (plan["stages"]?.array ?? []).map { stage -> JSON in
            guard var entry = stage.object else { return stage }
            for member in members(of: stage["id"]?.string ?? "") { entry[member.name] = member.value }
            return .object(entry)
        }
        object["stages"] = .array(stages)
        for member in members { object[member.name] = member.value }
        return .object(object)
    }

    /// A stage's members of `plan --json`: `resumes`, `delay` in seconds, and the reasons.
    private func members(of stage: String) -> JSONObject {
        guard let found = forecast.stages.first(where: { $0.id == stage }) else { return [:] }
        let reasons = found.resumes.map { resume -> JSON in
            ["reason": .string(resume.reason.rawValue), "count": .number(JSONNumber(resume.count))]
        }
        return [
            "resumes": .number(JSONNumber(found.count)), "delay": .number(JSONNumber(found.delay.seconds)),
            "reasons": .array(reasons), "discretionary": .bool(found.isDiscretionary),
        ]
    }

    /// The members of the whole: `resumes`, `delay` in seconds, `advice`.
    private var members: JSONObject {
        [
            "resumes": .number(JSONNumber(forecast.resumes)), "delay": .number(JSONNumber(forecast.delay.seconds)),
            "advice": .array(forecast.advice.map { .string($0) }),
        ]
    }
}
