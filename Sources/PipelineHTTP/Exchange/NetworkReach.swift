import CLibrary

/// The addresses that an exchange may connect to, its redirects too.
public enum NetworkReach: String, Sendable, Equatable, CaseIterable {
    case any
    /// Addresses of the public network alone, as they are after the name was resolved: none of this machine, of a private
    /// or shared network, of a link, none for documentation or groups, and none at which clouds give out credentials. A
    /// proxy's address must be public too, as nobody here knows what a proxy connects to.
    case `public`

    /// Returns whether an address, in text without brackets, may be connected to.
    func allows(_ address: String) -> Bool {
        guard self == .public else { return true }
        var bytes = [UInt8](repeating: 0, count: 16)
        let text = String(address.prefix { $0 != "%" })
        if inet_pton(AF_INET, text, &bytes) == 1 { return allows(Array(bytes[..<4])) }
        return inet_pton(AF_INET6, text, &bytes) == 1 && allows(bytes)
    }

    /// Returns whether an address of 4 or 16 bytes may be connected to; any others are no addresses.
    func allows(_ bytes: [UInt8]) -> Bool {
        guard self == .public else { return true }
        switch bytes.count {
        case 4: return !Self.closedV4.contains { $0.contains(bytes) }
        case 16:
            // An address of version 4 inside of one of version 6 is what is meant (RFC 4291, section 2.5.5, RFC 6052,
            // RFC 3056).
            if Self.mapped.contains(where: { $0.contains(bytes) }) { return allows(Array(bytes[12...])) }
            if bytes[0] == 0x20, bytes[1] == 0x02 { return allows(Array(bytes[2..<6])) }
            // All that is given to anybody: 2000::/3.
            return bytes[0] >> 5 == 1 && !Self.closedV6.contains { $0.contains(bytes) }
        default: return false
        }
    }

    /// The addresses that begin with the same bits.
    private struct Prefix: Sendable {
        let bytes: [UInt8]
        let bits: Int

        init(_ bits: Int, _ bytes: UInt8...) { (self.bits, self.bytes) = (bits, bytes) }

        func contains(_ address: [UInt8]) -> Bool {
            (0..<bits).allSatisfy { bit in
                let own = bit / 8 < bytes.count ? bytes[bit / 8] : 0
                return (own ^ address[bit / 8]) & (0x80 >> UInt8(bit % 8)) == 0
            }
        }
    }

    /// https://www.iana.org/assignments/iana-ipv4-special-registry, groups and what is reserved; and the address at which
    /// Azure's machines ask their host, which looks public
    /// (https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16).
    private static let closedV4 = [
        Prefix(8, 0), Prefix(8, 10), Prefix(10, 100, 64), Prefix(8, 127), Prefix(16, 169, 254), Prefix(12, 172, 16),
        Prefix(24, 192, 0, 0), Prefix(24, 192, 0, 2), Prefix(24, 192, 88, 99), Prefix(16, 192, 168),
        Prefix(15, 198, 18), Prefix(24, 198, 51, 100), Prefix(24, 203, 0, 113), Prefix(4, 224), Prefix(4, 240),
        Prefix(32, 168, 63, 129, 16),
    ]
    /// https://www.iana.org/assignments/iana-ipv6-special-registry, of 2000::/3: Teredo and others of IETF protocols,
    /// documentation.
    private static let closedV6 = [
        Prefix(23, 0x20, 0x01), Prefix(32, 0x20, 0x01, 0x0D, 0xB8), Prefix(20, 0x3F, 0xFF),
    ]
    /// ::ffff:0:0/96 and 64:ff9b::/96.
    private static let mapped = [
        Prefix(96, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF), Prefix(96, 0, 0x64, 0xFF, 0x9B),
    ]
}
