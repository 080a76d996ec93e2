import JSONPath
import PipelineCore
import Testing

/// Shifts every byte by one and puts the secret's length in front: enough to tell sealed from plain.
private struct ShiftingSeal: SecretSeal {
    func seal(_ bytes: [UInt8], under secret: String) -> [UInt8] {
        [UInt8(secret.utf8.count)] + bytes.map { $0 &+ 1 }
    }

    func unseal(_ sealed: [UInt8], under secret: String) -> [UInt8]? {
        sealed.first == UInt8(secret.utf8.count) ? sealed.dropFirst().map { $0 &- 1 } : nil
    }
}

@Suite("Secrets that captured values repeat are sealed")
struct CaptureSealingTests {
    private let sealing = CaptureSealing([("KEY", "s3cret"), ("PIN", "48151623")], seal: ShiftingSeal())

    @Test(
        "and opened again as they were",
        arguments: [
            #""s3cret""#, #""a s3cret, czNjcmV0 and %733cret""#, "48151623", #"{"s3cret":[1,null,true,"x s3cret"]}"#,
            #""nothing to hide""#, "[1.50,2]", #""‹secret:KEY#zz› s3cret ‹""#,
        ])
    func roundTrip(text: String) throws {
        let value = try JSON.parse(text)
        let sealed = sealing.sealed(value)
        #expect(!sealed.text.contains("s3cret") && !sealed.text.contains("48151623"))
        #expect(sealing.opened(sealed).text == value.text)
    }

    /// Each makes one Character with the sign before or behind it.
    @Test(
        "whatever mark a service writes around them",
        arguments: [("", "\u{301}"), ("\u{600}", "\u{200D}x"), ("", "\u{FE0F}")])
    func marks(before: String, after: String) {
        let value = JSON.string(before + "s3cret" + after)
        let sealed = sealing.sealed(value)
        #expect(sealed != value)
        #expect(sealing.opened(sealed) == value)
        #expect(sealed.withoutSealed == .string(before + "‹secret:KEY›" + after))
    }

    @Test("and shown by their names")
    func shown() throws {
        let sealed = sealing.sealed(["url": "http://h/?k=s3cret&v=1", "pin": 48_151_623])
        #expect(sealed.withoutSealed == ["url": "http://h/?k=‹secret:KEY›&v=1", "pin": "‹secret:PIN›"])
    }

    @Test("under each value that a name has had, and stay closed when none fits")
    func changed() {
        let sealed = sealing.sealed("s3cret")
        let later = CaptureSealing([("KEY", "s3cret"), ("KEY", "changed-since")], seal: ShiftingSeal())
        #expect(later.opened(sealed) == "s3cret")
        #expect(CaptureSealing([("KEY", "changed-since")], seal: ShiftingSeal()).opened(sealed) == sealed)
    }

    @Test("but those of fewer than four bytes stand in every other word, and stay")
    func short() {
        #expect(CaptureSealing([("N", "one")], seal: ShiftingSeal()).sealed("one") == "one")
    }
}
