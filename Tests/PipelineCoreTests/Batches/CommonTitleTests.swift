import PipelineCore
import Testing

/// The sentences of failures by which items are alike.
@Suite("The common form of a failure's title")
struct CommonTitleTests {
    private func common(_ title: String, _ key: String = "i00005") -> String {
        CommonTitle.make(of: title, key: key)
    }

    @Test("has no digests, sizes and identifiers in it")
    func numbers() {
        let digests = (String(repeating: "0a", count: 32), String(repeating: "f7", count: 32))
        #expect(
            common(#"its SHA-256 is \#(digests.0), and "verify" says \#(digests.1)"#)
                == #"its SHA-… is …, and "verify" says …"#)
        #expect(
            common("its CRC32 is 1a2b3c4d, and the header x-crc says 00c0ffee")
                == "its CRC… is …, and the header x-crc says …")
        #expect(common(#"it has 1,204 bytes, and "verify" says 99"#) == #"it has … bytes, and "verify" says …"#)
        #expect(
            common("the job 4f2a9c1e-1b7d-4c1a-9d51-0b6f3c8f7a11-done failed after 1.9 s, try 5.")
                == "the job …-done failed after … s, try ….")
        #expect(common("decaf added to facade-abc") == "decaf added to facade-abc", "these are words")
    }

    @Test("has no paths and addresses in it, in quotes or not")
    func paths() {
        #expect(
            common("/data/out/i00005.zip is neither zip nor tar nor a compressed file")
                == "… is neither zip nor tar nor a compressed file")
        #expect(
            common("can't write /data/out/x.txt.part: Read-only file system")
                == "can't write …: Read-only file system")
        #expect(
            common("can't unpack '/my disk/it is/a.zip': its entry \"b c/d e\" (of ../x) is unsafe")
                == "can't unpack '…': its entry \"…\" (of …) is unsafe")
        #expect(common("POST http://127.0.0.1:8787/models/m-1?a=b, refused.") == "POST …, refused.")
    }

    @Test("has neither the item's key nor the name in it, as whole words")
    func names() {
        #expect(common("the job failed at service 's': bad i00005") == "the job failed at service 's': bad …")
        #expect(common("no face in 'my talk.wav'", "talks/my talk.wav") == "no face in '…'")
        #expect(
            common("can't write /out/my talk.txt.part: Read-only file system", "talks/my talk.wav")
                == "can't write …: Read-only file system")
        #expect(common("no credit for ann, says annette", "ann") == "no credit for …, says annette")
        #expect(common("Ärger für är", "är") == "Ärger für …")
        #expect(common("it is a folder", "a") == "it is a folder", "one letter may be a word")
    }

    @Test("is the title where nothing is the item's own")
    func others() {
        for title in ["no credit", "can't say 'why', it's the service's", "", "'", "…", "decade"] {
            #expect(common(title) == title)
        }
        #expect(common("too dark") != common("no face"))
    }
}
