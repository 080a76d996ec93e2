import HTTPTypes
import NetworkTasks
import PipelineCore
package import PipelineHTTP

/// The transport of one simulated process: exchanges with a service over a network that loses, doubles and delays.
///
/// What a process has handed over arrives whether or not the process still lives when it does.
package final class SimulatedTransport: Transport {
    private let process: SimulatedProcess
    private let network: SimulatedNetwork
    private let service: any SimulatedService

    package init(
        of process: SimulatedProcess, over network: SimulatedNetwork, to service: any SimulatedService
    ) {
        self.process = process
        self.network = network
        self.service = service
    }

    package func start(_ request: RequestDescription, options: ExchangeOptions) -> ExchangeTask {
        let (task, completion) = ExchangeTask.make(id: network.nextExchange())
        process.pass()
        guard !process.isDead else {
            completion.finish(.failure(.cancelled()))
            return task
        }
        let exchange = SimulatedExchange(
            request: request, options: options, completion: completion, process: process, network: network,
            service: service)
        exchange.begin(fault: network.chooseFault(mayRepeat: Self.mayRepeat(request)))
        return task
    }

    /// A submit without a key goes out on a connection of its own, where nothing doubles it.
    private static func mayRepeat(_ request: RequestDescription) -> Bool {
        request.method != .post || HTTPField.Name("Idempotency-Key").map { request.headers[$0] != nil } ?? false
    }
}

/// One exchange on its way.
private struct SimulatedExchange: Sendable {
    let request: RequestDescription
    let options: ExchangeOptions
    let completion: NetworkTaskCompletion<HTTPExchangeResponse, ExchangeFailure>
    let process: SimulatedProcess
    let network: SimulatedNetwork
    let service: any SimulatedService

    private var simulation: Simulation { network.simulation }

    func begin(fault: NetworkFault?) {
        simulation.note(
            "\(process.owner.text) \(request.method.rawValue) \(request.url)\(fault.map { " \($0.rawValue)" } ?? "")")
        let ended = process.onDeath { finish(.failure(.cancelled(connectionMade: true))) }
        completion.onCancel {
            process.forget(ended)
            completion.finish(.failure(.cancelled(connectionMade: true)))
        }
        if let mayBegin = options.mayBegin, !mayBegin() {
            process.forget(ended)
            completion.finish(.failure(.cancelled(connectionMade: false)))
            return
        }
        if fault == .refused {
            return later(nil) {
                fail(.connectionRefused, "the connection was refused", connectionMade: false)
                process.forget(ended)
            }
        }
        service.willReceive(request, from: process.owner)
        later(fault) { arrive(fault, ended) }
        if fault == .duplicated { later(.slow) { _ = serve(isWhole: true) } }
    }

    private func later(_ fault: NetworkFault?, _ action: @escaping @Sendable () -> Void) {
        simulation.schedule(after: network.latency(fault), action)
    }

    private func arrive(_ fault: NetworkFault?, _ ended: Int) {
        if !process.isDead, !completion.task.isFinished { options.onSent?() }
        let answer = answer(fault)
        later(fault) {
            process.forget(ended)
            guard !process.isDead else { return }
            if let answer { return deliver(answer) }
            fail(.connectionReset, "the connection was reset", connectionMade: true)
        }
    }

    /// Returns what comes back; nil for nothing. The effects at the service happen here.
    private func answer(_ fault: NetworkFault?) -> HTTPExchangeResponse? {
        switch fault {
        case .lostRequest: return nil
        case .cutRequest:
            if request.body.length > 0 { _ = serve(isWhole: false) }
            return nil
        case .lostAnswer:
            _ = serve(isWhole: true)
            return nil
        case .overloaded:
            let seconds = simulation.randomness.number(in: 0...20)
            return problem(simulation.randomness.element(of: [429, 503]), ["Retry-After": "\(seconds)"])
        case .brokenBefore: return problem(simulation.randomness.element(of: [500, 502, 504]))
        case .brokenAfter:
            _ = serve(isWhole: true)
            return problem(simulation.randomness.element(of: [500, 502, 504]))
        case .garbled:
            var answer = serve(isWhole: true)
            answer.body = simulation.randomness.element(of: [[], Array("{\"".utf8), Array("[1, 2".utf8), [0xFF, 0xFE]])
            return answer
        case .refused, .duplicated, .slow, nil: return serve(isWhole: true)
        }
    }

    private func serve(isWhole: Bool) -> HTTPExchangeResponse {
        var body = BodyBytes.all(of: request.body)
        if !isWhole { body = Array(body.prefix(simulation.randomness.number(in: 0...max(0, body.count - 1)))) }
        let arrived = ArrivedRequest(description: request, body: body, isWhole: isWhole)
        let answer = service.answer(arrived, at: simulation.now)
        simulation.note("  \(request.method.rawValue) \(arrived.path) -> \(answer.status)")
        return answer
    }

    /// An answer of something between: it shows what it was sent, as a careless gateway does.
    private func problem(_ status: Int, _ fields: [String: String] = [:]) -> HTTPExchangeResponse {
        var headers = HTTPFields()
        for (name, value) in fields { if let name = HTTPField.Name(name) { headers[name] = value } }
        let credential = request.headers[.authorization] ?? "nothing"
        return HTTPExchangeResponse(
            status: status, headers: headers, body: Array("{\"error\": \"refused with \(credential)\"}".utf8))
    }

    private func deliver(_ answer: HTTPExchangeResponse) {
        do throws(ExchangeFailure) {
            let delivered = try answer.delivered(for: request, options)
            options.onProgress?(TransferProgress(sent: delivered.bytesSent, received: delivered.bytesReceived))
            finish(.success(delivered))
        } catch {
            finish(.failure(error))
        }
    }

    private func fail(_ reason: ExchangeFailure.Reason, _ message: String, connectionMade: Bool) {
        finish(
            .failure(
                ExchangeFailure(
                    reason, message: message, connectionMade: connectionMade,
                    requestBytesSent: connectionMade ? request.body.length : 0)))
    }

    private func finish(_ result: Result<HTTPExchangeResponse, ExchangeFailure>) { completion.finish(result) }
}
