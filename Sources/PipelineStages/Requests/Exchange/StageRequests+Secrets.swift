import JSONPath
import PipelineCore
import PipelineHTTP

extension StageRequests {
    /// Hides the values of secret captures in all that is shown or kept from now on: before the exchange that brought
    /// them is recorded.
    func conceal<Checkpoint>(
        _ response: HTTPExchangeResponse, of rendered: RenderedRequest, in context: StageContext<Checkpoint>
    ) {
        let entries = rendered.definition.capture.secrets + secretCaptures
        guard !entries.isEmpty else { return }
        let response = answer(of: response)
        let items = (try? rendered.items?.items(in: response)) ?? []
        let page = ServiceResponse(
            status: response.status, headers: response.headers, url: response.url, body: response.body,
            items: .array(items))
        // A lost submit that is found in a list has its captures taken from its entry there.
        let entriesOfList = items.map { item in
            var body: [UInt8] = []
            item.write(into: &body)
            return ServiceResponse(status: response.status, url: response.url, body: body)
        }
        for entry in entries {
            for source in [page] + entriesOfList {
                for text in entry.selector.lenientValue(in: source).secretTexts {
                    context.conceal(text, as: "\(context.facts.step.stage).\(entry.name)")
                }
            }
        }
    }

    /// The same requests for a look-up, whose response has the captures of the submit that is looked for.
    func revealing(_ captures: CaptureSet) -> StageRequests {
        var requests = self
        requests.secretCaptures += captures.secrets
        return requests
    }
}

extension StageReading {
    /// The secret ones of the captures that the stage itself takes, from the response that ends it. Their mistakes are
    /// told where the kind reads them.
    var secretCaptures: [CaptureSet.Entry] {
        guard let place = reader.place(of: "capture") else { return [] }
        var errors: [SelectorError] = []
        return CaptureSet.parse(place.node, in: findings.source, errors: &errors).secrets
    }
}
