extension UInt8 {
    /// True of the letters and digits of ASCII.
    package var isASCIIAlphanumeric: Bool { (0x30...0x39).contains(self) || (0x61...0x7A).contains(self | 0x20) }
}
