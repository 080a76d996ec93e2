/// The actions of a server on one request, step by step.
///
/// After the last step the connection is kept, if the request's body was read and no step ended it.
package struct ScriptedAnswer: Sendable {
    /// One thing that a server does.
    package enum Step: Sendable {
        /// Reads the rest of the request's body.
        case readBody
        /// Reads that many bytes of it.
        case read(Int64)
        /// Sends a 1xx answer.
        case inform(Int, [(String, String)])
        /// Sends a whole answer with its `Content-Length`.
        case send(Int, [(String, String)], [UInt8])
        /// Sends a status line and fields, nothing else.
        case head(Int, [(String, String)])
        case bytes([UInt8])
        /// Sends one byte after the other, with a pause before each: a slow server.
        case slowly([UInt8], milliseconds: Int)
        /// Sends that many bytes without holding them; byte i is i modulo 251.
        case filled(Int64)
        /// One chunk of a chunked body.
        case chunk([UInt8])
        case endOfChunks(trailers: [(String, String)])
        /// Waits for a gate that the test opens.
        case wait(Gate)
        /// Opens a gate on which the test waits.
        case open(Gate)
        /// Chooses the further steps when the body is read so far.
        case then(@Sendable (ReceivedRequest) -> ScriptedAnswer)
        /// Cuts the connection with RST.
        case reset
        /// Ends the connection in order.
        case close
        /// Does nothing until the server stops.
        case stall
    }

    package var steps: [Step]

    package init(_ steps: [Step]) {
        self.steps = steps
    }

    /// Reads the body and answers.
    package static func status(_ status: Int, headers: [(String, String)] = [], body: String = "") -> ScriptedAnswer {
        ScriptedAnswer([.readBody, .send(status, headers, Array(body.utf8))])
    }

    package static func status(_ status: Int, headers: [(String, String)] = [], bytes: [UInt8]) -> ScriptedAnswer {
        ScriptedAnswer([.readBody, .send(status, headers, bytes)])
    }

    package static func json(_ text: String, status: Int = 200) -> ScriptedAnswer {
        .status(status, headers: [("Content-Type", "application/json")], body: text)
    }

    /// A large body of bytes i modulo 251.
    package static func filled(_ count: Int64, headers: [(String, String)] = []) -> ScriptedAnswer {
        ScriptedAnswer([.readBody, .head(200, [("Content-Length", "\(count)")] + headers), .filled(count)])
    }

    package static func chunked(_ pieces: [String], trailers: [(String, String)] = []) -> ScriptedAnswer {
        ScriptedAnswer(
            [.readBody, .head(200, [("Transfer-Encoding", "chunked")])] + pieces.map { .chunk(Array($0.utf8)) }
                + [.endOfChunks(trailers: trailers)])
    }

    /// Promises `count` bytes, sends `sent` of them and closes.
    package static func truncated(_ count: Int64, after sent: Int64) -> ScriptedAnswer {
        ScriptedAnswer([.readBody, .head(200, [("Content-Length", "\(count)")]), .filled(sent), .close])
    }

    /// Resets after that many bytes of the request's body.
    package static func reset(afterRequestBytes count: Int64 = 0) -> ScriptedAnswer {
        ScriptedAnswer([.read(count), .reset])
    }

    /// Something that is not HTTP.
    package static let garbage = ScriptedAnswer([.readBody, .bytes(Array("\u{1}\u{2} nonsense\r\n\r\n".utf8)), .close])

    /// Reads the body and never answers.
    package static let silence = ScriptedAnswer([.readBody, .stall])
}
