import CLibrary
import HTTPTypes

/// One connection of a ``LoopbackServer``, served on a thread of its own.
final class LoopbackConnection {
    /// The reason why the connection is at its end.
    struct Ended: Error {}

    private let descriptor: Int32
    private let number: Int
    private let server: LoopbackServer
    private var buffer: [UInt8] = []
    private var request = ReceivedRequest(
        number: 0, connection: 0, numberOnConnection: 0, method: "", target: "", headers: [:])
    private var unreadBody: Int64 = 0

    init(_ descriptor: Int32, number: Int, server: LoopbackServer) {
        self.descriptor = descriptor
        self.number = number
        self.server = server
    }

    /// Answers requests until one side ends the connection.
    func serve() {
        defer { server.forget(descriptor) }
        do {
            while try readHead() {
                request.number = server.record(request)
                try perform(server.script(request))
                if unreadBody > 0 || request.header("Connection")?.lowercased() == "close" { return }
            }
        } catch {
            return
        }
    }

    private func perform(_ answer: ScriptedAnswer) throws(Ended) {
        for step in answer.steps { try perform(step) }
    }

    private func perform(_ step: ScriptedAnswer.Step) throws(Ended) {
        switch step {
        case .readBody: try readBody(unreadBody)
        case .read(let count): try readBody(min(count, unreadBody))
        case .inform(let status, let headers), .head(let status, let headers): try sendHead(status, headers)
        case .send(let status, let headers, let body): try send(status, headers, body)
        case .bytes(let bytes): try send(bytes)
        case .slowly(let bytes, let milliseconds):
            for byte in bytes {
                server.stopped.waitBlocking(milliseconds: milliseconds)
                try send([byte])
            }
        case .filled(let count): try sendFilled(count)
        case .chunk(let bytes): try send(Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + [13, 10])
        case .endOfChunks(let trailers):
            try send(Array("0\r\n\(trailers.map { "\($0): \($1)\r\n" }.joined())\r\n".utf8))
        case .wait(let gate): gate.waitBlocking(orUntil: server.stopped)
        case .open(let gate): gate.open()
        case .then(let choose): try perform(choose(request))
        case .reset: try reset()
        case .close:
            endInOrder()
            throw Ended()
        case .stall:
            server.stopped.waitBlocking()
            throw Ended()
        }
    }

    // MARK: Reading

    private func readHead() throws(Ended) -> Bool {
        let end = Array("\r\n\r\n".utf8)
        var searched = 0
        while true {
            if let range = buffer.dropFirst(searched).firstRange(of: end) {
                let head = String(decoding: buffer[..<range.lowerBound], as: UTF8.self)
                buffer.removeSubrange(..<range.upperBound)
                return parse(head)
            }
            searched = max(0, buffer.count - 3)
            let piece = try receive(64 << 10)
            if piece.isEmpty { return false }
            buffer += piece
        }
    }

    private func parse(_ head: String) -> Bool {
        let lines = head.split(separator: "\r\n", omittingEmptySubsequences: false)
        let words = lines[0].split(separator: " ")
        guard words.count == 3 else { return false }
        var headers = HTTPFields()
        for line in lines.dropFirst() {
            let pair = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2, let name = HTTPField.Name(String(pair[0])) else { return false }
            headers.append(HTTPField(name: name, value: String(pair[1])))
        }
        request = ReceivedRequest(
            number: 0, connection: number, numberOnConnection: request.numberOnConnection + 1,
            method: String(words[0]), target: String(words[1]), headers: headers
        )
        unreadBody = request.contentLength
        return true
    }

    private func readBody(_ count: Int64) throws(Ended) {
        var left = count
        defer { server.update(request) }
        while left > 0 {
            let piece: [UInt8]
            if buffer.isEmpty {
                piece = try receive(Int(min(left, 256 << 10)))
            } else {
                piece = Array(buffer.prefix(Int(min(left, Int64(buffer.count)))))
                buffer.removeFirst(piece.count)
            }
            guard !piece.isEmpty else { throw Ended() }
            let room = server.keptBodyBytes - request.body.count
            if room > 0 { request.body += piece.prefix(room) }
            request.bodyCount += Int64(piece.count)
            unreadBody -= Int64(piece.count)
            left -= Int64(piece.count)
        }
    }

    /// Empty at the end of the stream.
    private func receive(_ count: Int) throws(Ended) -> [UInt8] {
        var failed = false
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { bytes, done in
            var received: Int
            repeat { received = recv(descriptor, bytes.baseAddress!, count, 0) } while received < 0 && errno == EINTR
            failed = received < 0
            done = max(0, received)
        }
        if failed { throw Ended() }
        return bytes
    }

    // MARK: Writing

    private func sendHead(_ status: Int, _ headers: [(String, String)]) throws(Ended) {
        try send(Self.head(status, headers))
    }

    private func send(_ status: Int, _ headers: [(String, String)], _ body: [UInt8]) throws(Ended) {
        let hasLength = headers.contains { $0.0.lowercased() == "content-length" }
        let length = hasLength || status == 204 || status == 304 ? [] : [("Content-Length", "\(body.count)")]
        try send(Self.head(status, headers + length) + (request.method == "HEAD" ? [] : body))
    }

    private static func head(_ status: Int, _ headers: [(String, String)]) -> [UInt8] {
        Array("HTTP/1.1 \(status) Scripted\r\n\(headers.map { "\($0): \($1)\r\n" }.joined())\r\n".utf8)
    }

    /// Bytes i modulo 251, made once: it takes longer than sending them.
    private static let pattern = (0..<251 * 1024).map { UInt8($0 % 251) }

    private func sendFilled(_ count: Int64) throws(Ended) {
        let pattern = Self.pattern
        var left = count
        while left > 0 {
            try send(left >= Int64(pattern.count) ? pattern : Array(pattern.prefix(Int(left))))
            left -= Int64(pattern.count)
        }
    }

    private func send(_ bytes: [UInt8]) throws(Ended) {
        var done = 0
        while done < bytes.count {
            #if canImport(Darwin)
                let flags: Int32 = 0
            #else
                let flags = Int32(MSG_NOSIGNAL)
            #endif
            let count = bytes.withUnsafeBytes { systemSend($0.baseAddress! + done, bytes.count - done, flags) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw Ended() }
            done += count
        }
    }

    private func systemSend(_ bytes: UnsafeRawPointer, _ count: Int, _ flags: Int32) -> Int {
        CLibrary.send(descriptor, bytes, count, flags)
    }

    /// A close with bytes that nobody has read is a reset, which can take the answer along before the other end has read
    /// it: they are read until it closes too (RFC 9112, section 9.6).
    private func endInOrder() {
        guard unreadBody > 0 else { return }
        #if canImport(Darwin)
            shutdown(descriptor, SHUT_WR)
        #else
            shutdown(descriptor, Int32(SHUT_WR))
        #endif
        while let bytes = try? receive(64 << 10), !bytes.isEmpty {}
    }

    /// With SO_LINGER 0 a close sends RST (socket(7)).
    private func reset() throws(Ended) {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        throw Ended()
    }
}
