import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP

/// The kind `request`: sends one request and takes values out of its answer.
enum RequestKind {
    static func make(network: Network, decorators: DecoratorCatalogue) -> StageKind {
        let fields = RequestStageFields(decorators)
        return StageKind(
            name: "request", summary: "Sends one request and takes values out of its answer.", fields: fields.all
        ) { reading in
            var requests = StageRequests(reading: reading, network: network, decorators: decorators)
            requests.counted = reading.reader.has("paginate") ? .sent : .all
            // Of pages the items are written, not the bodies.
            requests.acceptsCodings = !reading.reader.has("to") || reading.reader.has("paginate")
            return fields.stage(reading, requests).map { AnyStage($0, coding: .json, work: .transfer) }
        }
    }
}

/// The table of a request stage's own fields.
private struct RequestStageFields: Sendable {
    let request: Field<RequestDefinition>
    let to = Field("to", FieldType<Template>.template(), "The file that the body is written to.")
    let capture = Field("capture", FieldType<CaptureSet>.captures(), "Values from the answer.")
    let paginate = Field(
        "paginate", PaginateDefinition.type(.request), "Fetches all pages; 'to' then gets the items as JSON Lines.")

    init(_ decorators: DecoratorCatalogue) {
        request = Field(
            "request", RequestDefinition.type(decorators: decorators, options: .init(allowsOnce: true)), required: true,
            examples: [["GET": "/path"]],
            "The request.")
    }

    var all: [any AnyField] { [request, to, capture, paginate] }

    func stage(_ reading: StageReading, _ requests: StageRequests) -> RequestStage? {
        let reader = reading.reader
        let pages = reader.optional(paginate)
        let captures = reader.value(capture, default: CaptureSet())
        let target = reader.optional(to)
        guard let definition = reader.required(request) else { return nil }
        requests.check(definition, reading.findings)
        if definition.isIdempotent, definition.once != nil, let place = definition.place {
            reading.findings.report(
                place, "'once' has a meaning only with POST and PATCH",
                hint: "\(definition.method.rawValue) is sent again without harm; leave \"once\" out")
        }
        let all = CaptureSet(definition.capture.entries + captures.entries)
        if let pages { check(pages, definition, target, all, reading.findings) }
        return RequestStage(
            requests: requests, definition: definition, to: target, capture: all, paginate: pages)
    }

    private func check(
        _ pages: PaginateDefinition, _ definition: RequestDefinition, _ target: Template?, _ captures: CaptureSet,
        _ findings: DiagnosticCollector
    ) {
        pages.check(against: definition, findings)
        if let once = definition.once, once.resends.constant != true, let place = definition.place {
            findings.report(
                place, "'once' has no meaning beside 'paginate'",
                hint: "pages are read, and each is asked for again when its answer is lost; leave \"once\" out")
        }
        if target != nil, let entry = captures.entries.first(where: \.selector.readsItems) {
            findings.report(
                pages.place, "the capture '\(entry.name)' reads $items, which \"to\" writes to a file instead",
                hint: "take out \"to\" or the capture")
        }
    }
}
