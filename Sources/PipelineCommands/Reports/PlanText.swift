import JSONPath
import PipelineCore
import PipelineKit

/// A plan as people read it.
struct PlanText {
    private let preview: PlanPreview

    init(_ preview: PlanPreview) { self.preview = preview }

    var text: String { preview.stages.map(stage).joined(separator: "\n\n") }

    private func stage(_ stage: PlanPreview.Stage) -> String {
        let planned = stage.planned
        var lines = ["\(planned.id) (\(planned.kind))\(planned.isFinal ? ", when the job has ended" : "")"]
        if !planned.needs.isEmpty { lines.append("  after      \(planned.needs.joined(separator: ", "))") }
        if let condition = planned.condition { lines.append("  when       \(condition.text)") }
        switch planned.forEach {
        case .elements(let expression): lines.append("  for each   \(expression.text)")
        case .items(let other, _): lines.append("  for each   item of \(other)")
        case nil: break
        }
        for request in stage.preview.requests { lines += self.lines(of: request) }
        if let writes = stage.preview.writes { lines.append("  writes     \(writes)") }
        if let waits = stage.preview.waits { lines.append("  waits      \(waits)") }
        if let once = stage.preview.once { lines.append("  if the answer is lost: \(once)") }
        if let expires = stage.expires { lines.append("  expires    \(expires)") }
        if let deadline = planned.deadline?.constant { lines.append("  deadline   \(DurationText.describe(deadline))") }
        return lines.map(SafeText.line).joined(separator: "\n")
    }

    private func lines(of request: RequestPreview) -> [String] {
        let purpose = request.purpose.padded(to: 10)
        var lines = ["  \(purpose) \(request.method) \(request.url)"]
        for (name, value) in request.headers { lines.append("               \(name): \(value)") }
        let isForm = request.headers.contains {
            $0.name.lowercased() == "content-type" && $0.value == "multipart/form-data"
        }
        if isForm, let parts = request.body.object {
            for (name, value) in parts { lines.append("               part \(name): \(value.string ?? value.text)") }
        } else if !request.body.isNull {
            let text = request.body.string ?? request.body.text
            lines.append("               " + (text.count > 400 ? text.prefix(400) + "…" : text))
        }
        for note in request.notes { lines.append("               (\(note))") }
        return lines
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
