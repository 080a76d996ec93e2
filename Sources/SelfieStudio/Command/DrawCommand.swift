import ArgumentParser

/// `selfie-studio draw`: shows a preview in a terminal.
struct DrawCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "draw",
        abstract: "Draw a preview in the terminal, with half blocks.",
        discussion: "Example: selfie-studio draw selfie.png --columns 60"
    )

    @Argument(help: "The preview of a model, a PNG.")
    var file: String
    @Option(help: "The width in characters.")
    var columns = 60
    @Option(help: "The colours that the terminal has: all (24 bits) or palette (256).")
    var colours = HalfBlocks.Colours.all

    func validate() throws {
        guard (1...1000).contains(columns) else { throw ValidationError("--columns is 1 to 1000.") }
    }

    func run() throws {
        let png = try DiskFile(reading: file)
        let picture = try PNGFile.picture(in: png.read(at: 0, count: png.size()))
        print(HalfBlocks(picture: picture, colours: colours).text(columns: columns), terminator: "")
    }
}

extension HalfBlocks.Colours: ExpressibleByArgument {}
