import JSONPath
import PipelineCore

extension UploadAttempt {
    /// A digest of the captures of other stages, and of the item, that say which upload it is; nil where none do. Fresh
    /// ones may be of another upload, which has none of the bytes.
    ///
    /// In a header the value of a secret doesn't count, nor what its name says to be a credential: a token is another one
    /// each time.
    func origin() async throws(StageFailure) -> String? {
        let subject = stage.subject
        let headers = stage.headerSubject
        guard !subject.isEmpty || !headers.isEmpty else { return nil }
        var values = try await context.evaluate { scope throws(EvaluationFailure) in
            (subject + headers).map { $0.renewable(in: scope) ?? .null }
        }
        for place in subject.count..<values.count {
            // A secret is shown by its name, which stays when its value is another.
            values[place] = .string(context.redact(values[place].string ?? values[place].text))
        }
        return context.digest(JSON.array(values).bytes)
    }
}

extension UploadStage {
    /// True if the request makes an upload with an address or a name of its own, which is asked about by that.
    var makesUpload: Bool {
        requests.definition.createsUpload(by: mode) || offersResumption || parts?.creates == true
    }

    /// The requests after the one that makes the upload, or is all of it.
    private var others: [RequestDefinition] {
        [parts?.part, parts?.ask?.request, parts?.complete, complete].compactMap(\.self)
    }

    /// The values in URLs, queries and bodies by which fresh captures may lead to another upload.
    fileprivate var subject: [Reference] {
        let fields = requests.fields?.references.filter(\.isRenewable) ?? []
        return requests.definition.subject + fields + others.flatMap(\.subject)
    }

    /// Those in headers.
    fileprivate var headerSubject: [Reference] {
        (makesUpload ? [] : requests.definition.headerSubject) + others.flatMap(\.headerSubject)
    }
}
