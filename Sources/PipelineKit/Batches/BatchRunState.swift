import PipelineCore

/// The part of an owner's knowledge of a batch that is not in the rows.
struct BatchRunState {
    var batch: BatchRecord
    var reading = Reading()
    /// True once what was begun before goes on.
    var hasGoneOn = false
    var outdated = OutdatedItems()
    var stop: BatchRunner.Stop?
    /// Why an item can't go on, of the first such.
    var itemCause: SuspensionCause?
    /// The first failure of the journal because of which an item can't go on.
    var failure: JournalFailure?
    /// The jobs of items that run in this process, until it is heard that they have come to rest: their rows may say so
    /// sooner.
    var here: Set<JobID> = []
    /// The jobs of items that could not be run here although their rows say that they are under way.
    var stuck: Set<JobID> = []
    /// The keys of items that have come to rest and are not yet told of.
    var rested: [String] = []
    /// The number of items that succeeded here and did not say what they cost.
    var unpriced = 0

    /// How many items hold one of the places that there are. Of those that were just told to go on the rows do not say
    /// so yet, of those that run elsewhere nothing but the rows does.
    var underWay: Int { max(here.count, batch.count(.running)) }

    /// True if an amount bounds nothing, although some items said that they cost nothing.
    var isCostUnknown: Bool { batch.isCostUnknown && unpriced >= BatchRecord.costSample }

    /// True if an item is under way, here or elsewhere.
    var isWorking: Bool { !here.isEmpty || batch.count(.running) > stuck.count }

    /// What is known of the reading of the sources.
    struct Reading {
        var isOpen = false
        /// True if nothing begins before all is read: a row that is still to come may say that an item is another one by now,
        /// or name one that failed.
        var isAwaited = false
        /// True if the rest of the rows can't be read here.
        var isCut = false
        /// The number of rows of this reading that can't be begun.
        var badRows = 0
    }
}
