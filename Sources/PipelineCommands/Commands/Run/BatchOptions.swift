import ArgumentParser
import PipelineCore
import PipelineKit
import PipelineStages

/// The flags by which `run` does one document over many inputs.
struct BatchOptions: ParsableArguments {
    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Where items come from, each a job: NAME='GLOB', NAME=- (lines), FILE.jsonl, FILE.csv, or - (JSON Lines).",
            valueName: "source"))
    var each: [String] = []

    @Option(help: ArgumentHelp("The batch's own name; the same name is the same batch.", valueName: "key"))
    var batch: String?

    @Option(
        parsing: .unconditional, help: ArgumentHelp("At most so many items at work, 64 by default.", valueName: "n"),
        transform: WholeNumber.from(1))
    var atOnce: Int?

    @Option(
        parsing: .unconditional, help: ArgumentHelp("So many items may fail: a number or a share.", valueName: "n|p%"))
    var tolerate: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "How much money items may cost, as 'cost' of the stages counts it. Up to ten are begun before any cost is "
                + "known; fewer with --at-once.", valueName: "amount"))
    var spend: Double?

    @Option(help: ArgumentHelp("Append a row for each item as it ends.", valueName: "file"), completion: .file())
    var results: String?

    @Flag(help: "Also begin what failed again: the job of --key, or the items of --each whose rows are as they were.")
    var retryFailed = false

    @Flag(help: "Take another document or other inputs than the batch had, and do items again whose row has changed.")
    var changed = false

    @Flag(help: "Read all items first, and start nothing if one is bad.")
    var strict = false

    /// True if a batch is meant.
    var isBatch: Bool { !each.isEmpty }

    func validate() throws {
        let others = [
            ("--batch", batch != nil), ("--at-once", atOnce != nil), ("--tolerate", tolerate != nil),
            ("--spend", spend != nil), ("--results", results != nil), ("--changed", changed),
            ("--strict", strict),
        ]
        if !isBatch, let (name, _) = others.first(where: \.1) {
            throw ValidationError("\(name) is for a batch: give --each too.")
        }
        if let tolerate, FailureTolerance(tolerate) == nil {
            throw ValidationError("--tolerate is a whole number or a share such as 5%, not '\(tolerate)'.")
        }
        if let spend, !(spend >= 0 && spend.isFinite) {
            throw ValidationError("--spend is an amount of money, not '\(spend)'.")
        }
        if let batch, !NameGrammar.jobKey.accepts(batch) {
            throw ValidationError("a batch's key has 1 to 200 of letters, digits, '.', '_' and '-', unlike '\(batch)'.")
        }
        try StandardInput.check(pipes)
    }

    /// The arguments that mean standard input.
    var pipes: [String] { each.filter { ItemSource.isStandardInput($0) } }

    /// Makes room for a file of results that is not the batch's: it is replaced when a person said so, and never where it
    /// is the document.
    ///
    /// - Parameter earlier: the batch, where it was begun before.
    func makeRoom(for path: String?, of earlier: JobSnapshot? = nil, document: String, overwrites: Bool) throws {
        guard let path else { return }
        try ResultsFile.check(path)
        guard ResultsFile.exists(path) else { return }
        if let earlier, path == earlier.batch?.settings.results, !ResultsFile.isForeign(path, to: earlier.id) { return }
        if SourceFingerprint.text(ofFileAt: path) == SourceFingerprint.text(ofFileAt: document) {
            throw CommandError(
                .invalid, "\(path) is the document, and is not replaced", hint: "name another file with --results")
        }
        guard overwrites else {
            throw CommandError(
                .invalid, "\(path) exists, and is not the file that the rows of this batch go to",
                hint: "name another file with --results, or add --overwrite to replace it")
        }
        try ResultsFile.empty(path)
    }
}
