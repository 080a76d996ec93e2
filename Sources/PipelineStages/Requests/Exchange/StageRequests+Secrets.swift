import JSONPath
import PipelineCore
import PipelineHTTP

extension StageRequests {
    /// Returns the same requests for a look-up, whose response has the captures of the submit that is looked for.
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
