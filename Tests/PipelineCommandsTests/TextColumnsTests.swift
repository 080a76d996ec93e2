import Testing
@testable import PipelineCommands

/// The columns that a live view and a table count with.
@Suite("The columns of a text") struct TextColumnsTests {
    // Those of before U+1F300 counted one: rows broke, and each picture of the live view left lines of the last one.
    @Test("pictures take two, whichever block they are in")
    func pictures() {
        let old = "⌚⌛⏩⏰⏳◽☔♈♿⚓⚡⚪⚽⛄⛎⛔⛪⛲⛵⛺⛽✅✊✨❌❎❓❗➕➰➿⬛⭐⭕"
        for picture in old + "🀄🃏🆎🆑🈁🌀🚀🟠🤖🪐🫠" {
            #expect(TextColumns.count(String(picture)) == 2, "\(picture)")
        }
    }

    @Test(
        "text takes as many as a terminal gives it",
        arguments: [
            ("", 0), ("abc", 3), ("e\u{301}", 1), ("漢字", 4), ("ﾊﾝ", 2), ("✓ · █", 5), ("⠋", 1), ("🛠", 1),
            ("\u{17000}", 2), ("a\u{200B}b", 2), ("🇩🇪", 2),
        ])
    func text(_ text: String, columns: Int) { #expect(TextColumns.count(text) == columns) }

    @Test(
        "a character that is asked to be a picture has room for one",
        arguments: ["❤\u{FE0F}", "⚠\u{FE0F}", "🛠\u{FE0F}", "✅\u{FE0F}", "1\u{FE0F}\u{20E3}", "漢\u{FE0F}"])
    func asked(picture: String) { #expect(TextColumns.count(picture) == 2) }

    @Test("a text is cut before the picture that has no room")
    func fitted() {
        #expect(TextColumns.fitted("⚡⚡⚡", to: 6) == "⚡⚡⚡")
        #expect(TextColumns.fitted("⚡⚡⚡", to: 5) == "⚡⚡…")
        #expect(TextColumns.fitted("⚡⚡⚡", to: 4) == "⚡…")
        #expect(TextColumns.padded("⚡⚡⚡", to: 4) == "⚡… ")
        #expect(StyledText("a ⭐⭐⭐.wav", .red).padded(to: 7).columns == 7)
    }
}
