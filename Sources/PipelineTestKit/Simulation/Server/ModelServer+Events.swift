import PipelineSimulation
import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP

extension ModelServer {
    /// The events of a job since the one that the client has, as far as they have happened; then the stream breaks, often
    /// in the middle of an event. Each tenth of a job is an event, and its end is one.
    func stream(_ id: String, _ request: ArrivedRequest, at time: Timestamp) -> HTTPExchangeResponse {
        guard let job = jobs.first(where: { $0.id == id }) else { return Self.problem(404, "no such job") }
        let view = view(of: job, at: time)
        let last = HTTPField.Name("Last-Event-ID").flatMap { request.description.headers[$0] }.flatMap { Int($0) } ?? 0
        let tenths = min(10, (view["percent"]?.number?.int ?? 0) / 10)
        var text = "retry: \(simulation.randomness.number(in: 100...20_000))\n: events of \(id)\n\n"
        for tenth in (last + 1)...max(last + 1, tenths) where tenth <= tenths {
            text += "id: \(tenth)\nevent: progress\ndata: {\"percent\": \(tenth * 10)}\n\n"
        }
        let state = view["state"]?.string ?? ""
        if !["queued", "running"].contains(state) { text += "event: \(state)\ndata: \(view.text)\n\n" }
        var body = Array(text.utf8)
        if simulation.randomness.chance(0.3) { body.removeLast(simulation.randomness.number(in: 0...body.count)) }
        return HTTPExchangeResponse(status: 200, headers: [.contentType: "text/event-stream"], body: body)
    }
}
