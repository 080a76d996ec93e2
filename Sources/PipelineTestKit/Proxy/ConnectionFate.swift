/// The treatment that a ``FaultProxy`` gives to one connection.
package enum ConnectionFate: Sendable, Hashable {
    /// Everything goes through.
    case pass
    /// Cut with RST before anything goes through.
    case refuse
    /// Everything goes through, each piece this many milliseconds late.
    case delay(milliseconds: Int)
    /// Goes wrong once that many bytes went in one direction.
    case fault(Fault, Direction, after: Int64)

    /// The way that bytes go.
    package enum Direction: Sendable, Hashable, CaseIterable {
        case toServer, toClient
    }

    package enum Fault: Sendable, Hashable, CaseIterable {
        /// Both sides see the connection end in order.
        case close
        /// Both sides see RST.
        case reset
        /// Nothing more goes that way; the other way goes on.
        case stall
        /// The byte at that place is another one; nobody is told.
        case corrupt
    }
}

extension ConnectionFate {
    /// A fate that a seed chooses: about half of the connections pass, the others go wrong somewhere within `bytes`.
    ///
    /// Nothing is corrupted: TCP protects from that, and a pipeline can't see it where a service gives no digest.
    package static func random(_ randomness: SeededRandomness, bytes: Int) -> ConnectionFate {
        switch randomness.number(in: 0...9) {
        case 0...4: return .pass
        case 5: return .refuse
        case 6: return .delay(milliseconds: randomness.number(in: 1...20))
        default:
            // Heads are short and bodies long: half of the faults come early.
            let limit = randomness.chance(0.5) ? 1500 : max(bytes, 1500)
            return .fault(
                randomness.element(of: [.close, .reset, .stall]), randomness.element(of: Direction.allCases),
                after: Int64(randomness.number(in: 0...limit)))
        }
    }
}
