/// Every statement that the journal runs again and again, by name: prepared once for each connection.
///
/// The raw value is the place in a connection's table, so that finding a statement costs an array access.
enum JournalStatement: Int, CaseIterable {
    case begin, beginReading, commit, rollback, openSavepoint, keepSavepoint, dropSavepoint
    case findJob, readRequest, findKey, findDocument, insertDocument, removeUnusedDocument, insertJob, removeJob
    case takeMode, setRequest, setCause, setEnded, reopen
    case findLease, findOwner, takeJob, releaseJob, releaseAll, keepOwner, removeIdleOwner, listOwners, listOwned
    case listRequests, listBackground, listUntold
    case insertStep, updateStep, keepSubmit, keepFact, keepFile, insertEvent
    case insertPush, takePushes, voidPushes, keepNotification
    case insertResume, insertSample, trimSamples
    case readJob, readSteps, readSubmits, readFacts, readFiles, readSequence, readEvents, listJobs, readPushes
    case readNotifications

    /// The statement's text.
    var sql: String {
        switch self {
        case .begin: "BEGIN IMMEDIATE"
        case .beginReading: "BEGIN"
        case .commit: "COMMIT"
        case .rollback: "ROLLBACK"
        case .openSavepoint: "SAVEPOINT call"
        case .keepSavepoint: "RELEASE call"
        case .dropSavepoint: "ROLLBACK TO call"
        case .findJob, .readRequest, .findKey, .findDocument, .insertDocument, .removeUnusedDocument, .insertJob,
            .removeJob,
            .takeMode, .setRequest, .setCause, .setEnded, .reopen:
            jobSQL
        case .findLease, .findOwner, .takeJob, .releaseJob, .releaseAll, .keepOwner, .removeIdleOwner, .listOwners,
            .listOwned, .listRequests, .listBackground, .listUntold:
            ownershipSQL
        case .insertStep, .updateStep, .keepSubmit, .keepFact, .keepFile, .insertEvent, .insertPush, .takePushes,
            .voidPushes, .keepNotification:
            contentSQL
        case .insertResume, .insertSample, .trimSamples: historySQL
        case .readJob, .readSteps, .readSubmits, .readFacts, .readFiles, .readSequence, .readEvents,
            .listJobs, .readPushes, .readNotifications:
            readingSQL
        }
    }
}
