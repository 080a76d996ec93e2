import NetworkTasks

extension ExchangeTask {
    /// The handle of an exchange that is a Swift task of its own: cancelling the handle cancels it, and what `work` reports
    /// to the options that it gets is the handle's progress too.
    static func of(
        _ id: UInt64, options: ExchangeOptions,
        _ work: @escaping @Sendable (ExchangeOptions) async throws(ExchangeFailure) -> HTTPExchangeResponse
    ) -> ExchangeTask {
        let (task, completion) = make(id: id)
        var reporting = options
        let report = options.onProgress
        reporting.onProgress = { progress in
            completion.report(progress)
            report?(progress)
        }
        let running = Task { [reporting] in
            do throws(ExchangeFailure) {
                completion.finish(.success(try await work(reporting)))
            } catch {
                completion.finish(.failure(error))
            }
        }
        completion.onCancel { running.cancel() }
        return task
    }
}
