import HTTPTypes
public import NetworkTasks

extension Network {
    /// Sends a template's request and converts the answer.
    ///
    /// - Throws: ``RequestFailure`` if it can't be built, ``ExchangeFailure`` if no whole answer came,
    ///   ``StatusCodeError`` or the service's own error for a status that is not expected, ``ConversionFailure`` for a
    ///   body that is not what it should be.
    public func send<T: RequestTemplate>(_ template: T) async throws -> T.Output {
        try await answer(to: template).output
    }

    /// Starts the download of a template's answer into a file and returns its handle.
    ///
    /// The file is made, or cut to nothing, when an answer of an expected status begins.
    public func task<T: RequestTemplate>(_ template: T, to path: String) -> ExchangeTask {
        var options = options
        template.adjust(&options)
        let expected = template.expected
        options.receive = .file(
            FileSink { expected.contains($0.status.code) ? .writeToFile(path: path, offset: 0) : .memory })
        do {
            return task(try template.description(base: baseURL), decorators: template.decorators, options: options)
        } catch {
            let (task, completion) = ExchangeTask.make(id: 0)
            completion.finish(.failure(ExchangeFailure(error)))
            return task
        }
    }

    /// All pages, each fetched when it is asked for.
    public func pages<T: RequestTemplate>(of template: Paginated<T>) -> Pages<T> {
        Pages(network: self, template: template)
    }

    func answer<T: RequestTemplate>(
        to template: T
    ) async throws -> (output: T.Output, response: HTTPExchangeResponse) {
        var options = options
        template.adjust(&options)
        let description = try template.description(base: baseURL)
        let response = try await exchange(description, decorators: template.decorators, options: options)
        guard template.expected.contains(response.status) else {
            throw template.serviceError(from: response) ?? StatusCodeError(response, to: description)
        }
        return (try template.convert(response), response)
    }
}
