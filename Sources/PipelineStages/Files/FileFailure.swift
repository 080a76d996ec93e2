import CLibrary
import PipelineCore
import PipelineHTTP

/// A call of the system on a local file that failed.
struct FileFailure: Error, Sendable, Hashable {
    /// The action that was tried, to follow "can't": `read`, `write`, `create the folder`.
    var action: String
    var path: String
    /// The system's error number.
    var code: Int32

    /// The failure of the call just made.
    static func last(_ action: String, _ path: String) -> FileFailure {
        FileFailure(action: action, path: path, code: errno)
    }

    /// The system's words for the error.
    var reason: String { String(cString: strerror(code)) }

    /// True when another attempt can succeed without anybody changing the job: room on a disk, descriptors and memory come
    /// and go.
    var isPassing: Bool { DescriptorBudget.isPassing(code) }

    /// As a person sees it.
    func stepFailure(place: String?) -> StepFailure {
        StepFailure("can't \(action) \(path): \(reason)", hint: hint, place: place)
    }

    /// As the failure of an attempt: what is short comes back, so the step waits for it, for as long as for a network.
    func tryFailure(place: String?) -> AttemptFailure {
        let failure = stepFailure(place: place)
        guard isPassing else { return AttemptFailure(failure, kind: .definite) }
        return AttemptFailure(
            failure, kind: .silent,
            pause: code == ENOSPC || code == EDQUOT ? Self.pauseForSpace : Self.pauseForDescriptors)
    }

    /// The number of times that a full disk is tried at the most: each try may cost a request.
    static let pauseForSpace = Duration.seconds(10)
    /// The number of times that what other transfers hold is tried at the most: it costs nothing but the try.
    static let pauseForDescriptors = Duration.seconds(1)

    private var hint: String? {
        switch code {
        case ENOENT: "check the path; is the file still there?"
        case EACCES, EPERM: "the user who runs this needs the right to do that"
        case ENOSPC, EDQUOT: "make room on the disk: what is there stays, and the next try goes on from it"
        case EMFILE, ENFILE:
            "too many files are open: it waits for others to end; a larger 'ulimit -n' lets more go on at once"
        case ENOMEM, EAGAIN: "the machine is short of it now: it waits"
        case EFBIG: "a limit of the shell (ulimit -f) or of the file system allows no larger file"
        case EROFS: "the disk is mounted read-only; choose another place with --output"
        case ELOOP: "a symbolic link stands there; remove it or choose another name"
        case ENAMETOOLONG: "choose a shorter name"
        case EISDIR: "that is a folder; end \"to\" with '/' to write into it"
        case ENOTDIR: "a part of the path is a file, not a folder"
        default: nil
        }
    }
}
