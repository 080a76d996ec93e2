import CLibrary
import CCurl
import HTTPTypes
import NetworkTasks

/// libcurl's callbacks: C functions that find their exchange in the pointer that was set with them.
extension CurlExchange {
    func setCallbacks(_ easy: EasyHandle) {
        let handle = easy.pointer
        let context = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
        for option in [
            CURLOPT_PRIVATE, CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_READDATA, CURLOPT_SEEKDATA,
            CURLOPT_XFERINFODATA, CURLOPT_PREREQDATA, CURLOPT_OPENSOCKETDATA,
        ] { easy.set(option, pointer: context) }
        ccurl_set_write(handle, CURLOPT_WRITEFUNCTION) { CurlExchange.at($3).write($0, $1 * $2) }
        ccurl_set_write(handle, CURLOPT_HEADERFUNCTION) { CurlExchange.at($3).header($0, $1 * $2) }
        ccurl_set_read(handle) { CurlExchange.at($3).read($0, $1 * $2) }
        ccurl_set_seek(handle) { CurlExchange.at($0).seek($1, origin: $2) }
        ccurl_set_progress(handle) { CurlExchange.at($0).moved(receiveTotal: $1, received: $2, sent: $4) }
        ccurl_set_open_socket(handle) { context, _, address in CurlExchange.at(context).openSocket(address!) }
        ccurl_set_prerequest(handle) { context, address, _, _, port in
            CurlExchange.at(context).connected(to: address.map { String(cString: $0) } ?? "", from: port)
        }
        easy.set(CURLOPT_NOPROGRESS, 0)
        guard options.onSent != nil, hop.request.body.isNone else { return }
        easy.set(CURLOPT_DEBUGDATA, pointer: context)
        easy.set(CURLOPT_VERBOSE, 1)
        ccurl_set_debug(handle) { _, kind, bytes, count, context in
            CurlExchange.at(context).debug(kind, UnsafeRawBufferPointer(start: bytes, count: count))
        }
    }

    private static func at(_ context: UnsafeMutableRawPointer?) -> CurlExchange {
        Unmanaged<CurlExchange>.fromOpaque(context!).takeUnretainedValue()
    }

    /// The request is about to go out (https://curl.se/libcurl/c/CURLOPT_PREREQFUNCTION.html): name, connection, proxy
    /// and TLS are behind.
    ///
    /// - Parameters:
    ///   - address: the other end's, of a connection that may have been made for another exchange.
    ///   - port: this end's.
    private func connected(to address: String, from port: Int32) -> Int32 {
        guard options.reach.allows(address) else {
            stop = Stop(reason: .addressRefused(address))
            return CURL_PREREQFUNC_ABORT
        }
        if let mayBegin = options.mayBegin, !mayBegin() {
            stop = Stop(reason: .cancelled)
            return CURL_PREREQFUNC_ABORT
        }
        hop.isConnected = true
        facts.connectionMade = true
        fitConnection(port)
        liveness.lastMove = MachineClock.monotonic()
        return CURL_PREREQFUNC_OK
    }

    /// Opens a socket for one of the addresses that the name stands for; libcurl tries the next when there is none.
    private func openSocket(_ address: UnsafePointer<curl_sockaddr>) -> curl_socket_t {
        if options.reach != .any {
            var bytes = [UInt8](repeating: 0, count: 16)
            bytes.removeLast(16 - Int(ccurl_address_bytes(address, &bytes)))
            guard options.reach.allows(bytes) else {
                hop.socketFailure = .addressRefused(Self.text(bytes))
                return -1
            }
        }
        let socket = ccurl_open_socket(address)
        if socket >= 0, DescriptorBudget.allows(socket) {
            hop.sockets.append(socket)
            return socket
        }
        let code = socket < 0 ? errno : EMFILE
        if socket >= 0 { close(socket) }
        if DescriptorBudget.isPassing(code) { hop.socketFailure = .outOfResources(errno: code) }
        return -1
    }

    private static func text(_ address: [UInt8]) -> String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let family = address.count == 4 ? AF_INET : AF_INET6
        guard inet_ntop(family, address, &text, socklen_t(text.count)) != nil else { return "an unknown address" }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Looks at how far the other end of a new connection is.
    private func fitConnection(_ port: Int32) {
        guard !hop.sockets.isEmpty else { return }
        let roundTrip = timings.roundTrip
        if roundTrip >= ExchangeTimings.farRoundTrip,
            let socket = hop.sockets.first(where: { ccurl_local_port($0) == port })
        {
            ccurl_fit_far_path(socket)
        }
        hop.sockets = []
        options.onConnected?(roundTrip)
    }

    private func header(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        touch()
        switch hop.response.parser.take(UnsafeRawBufferPointer(start: bytes, count: count)) {
        case .more: return count
        case .invalid(let fault):
            stop = Stop(reason: .protocolError, detail: fault)
            return 0
        case .informational(let status, let headers):
            facts.wasInformed = true
            options.onInformational?(status, headers)
            return count
        case .final(let status, let headers):
            return begin(status, headers) ? count : 0
        }
    }

    private func begin(_ status: Int, _ headers: HTTPFields) -> Bool {
        hop.response.final = (status, headers)
        if hop.request.body.isNone { reportSent() }
        if rule.follows(status: status, headers: headers) {
            hop.receiver.discardBody()
            return true
        }
        return hop.receiver.begin(status: status, headers: headers)
    }

    private func write(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        touch()
        if let throttle = allotment.throttle, count > 0, !throttle.accepts(self, count: count) {
            return Int(CURL_WRITEFUNC_PAUSE)
        }
        guard hop.receiver.receive(UnsafeRawBufferPointer(start: bytes, count: count)) else { return 0 }
        if hop.receiver.hasGathered { allotment.backlog?.note(self) }
        return count
    }

    private func read(_ buffer: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        var most = count
        if let throttle = allotment.throttle {
            guard let allowed = throttle.allowance(self, wanted: count) else { return Int(CURL_READFUNC_PAUSE) }
            most = allowed
        }
        let done = hop.reader.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: most))
        guard let done else { return Int(CURL_READFUNC_ABORT) }
        allotment.throttle?.sent(done)
        options.onBody?(UnsafeRawBufferPointer(start: buffer, count: done), hop.bodyPosition)
        hop.bodyPosition += Int64(done)
        if hop.bodyPosition == progress.sendTotal { hop.sentAfter = MachineClock.monotonic() - hop.startedAt }
        return done
    }

    /// libcurl begins a body again without a word when a kept connection breaks before a response. Of a large one that is a
    /// transfer which nobody counted: the exchange fails, and who asked for it knows what is to be sent.
    private func seek(_ offset: curl_off_t, origin: Int32) -> Int32 {
        guard origin == 0, hop.bodyPosition <= Self.mostRepeated, hop.reader.seek(to: Int64(offset)) else {
            return CURL_SEEKFUNC_FAIL
        }
        hop.bodyPosition = Int64(offset)
        return CURL_SEEKFUNC_OK
    }

    private static let mostRepeated: Int64 = 4 << 20

    private func moved(receiveTotal: curl_off_t, received: curl_off_t, sent: curl_off_t) -> Int32 {
        let now = TransferProgress(
            sent: Int64(sent), received: Int64(received), sendTotal: progress.sendTotal,
            receiveTotal: receiveTotal > 0 ? Int64(receiveTotal) : nil
        )
        guard now != progress else { return 0 }
        touch()
        progress = now
        completion.report(now)
        options.onProgress?(now)
        if !hop.request.body.isNone, now.sent == now.sendTotal { reportSent() }
        return 0
    }

    private func debug(_ kind: curl_infotype, _ bytes: UnsafeRawBufferPointer) -> Int32 {
        if kind == CURLINFO_HEADER_OUT, bytes.count >= 4, bytes.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            reportSent()
        }
        return 0
    }
}
