import PipelineCore
import PipelineKit
import PipelinePictures

/// The services that have said "not now": since when, until when, and how it will be found out whether they take requests
/// again. It stands wherever somebody may ask why nothing goes on.
struct ClosedServices {
    private let services: [ClosedService]
    private let page: Page

    init(_ services: [ClosedService], _ page: Page) {
        self.services = services
        self.page = page
    }

    /// A table of them; nothing where all are open.
    var markup: Markup {
        page.table(
            "Services that take no requests", ["Service", "Closed", "Opens", "Closed in a row", "Then"],
            services.map(row), numeric: [3])
    }

    private func row(_ service: ClosedService) -> [Markup] {
        let opens = service.opens(at: page.now)
        let trial: Markup
        if let until = service.trialUntil, until > page.now {
            trial = "one request is trying it, until \(page.time(until))"
        } else if opens > page.now {
            trial = "one request tries it, before the others go on"
        } else {
            trial = "the next request finds out"
        }
        return [
            "\(service.name)<small>it answered 429 or 503</small>", page.time(service.since),
            "<span class=\"state waiting\"><span aria-hidden=\"true\">◔</span> \(page.time(opens))</span>",
            "\(service.closings)", trial,
        ]
    }
}
