import CTexts
import PipelineCore

/// The pages of `pipeline help TOPIC` that are about no command.
enum HelpTopic: String, CaseIterable {
    case format, expressions, exitCodes = "exit-codes", environment

    /// Prints the page.
    func show(on console: Console) {
        for line in MarkdownText(text, width: console.pageWidth).lines { console.data(line) }
    }

    private var text: String {
        switch self {
        case .format, .expressions:
            (0...).lazy.map { pipeline_page_at($0)?.pointee }.prefix { $0 != nil }.compactMap(\.self)
                .first { String(cString: $0.name) == rawValue }.map { String(cString: $0.text) } ?? ""
        case .exitCodes: Self.exitCodesPage
        case .environment: Self.environmentPage
        }
    }

    private static let exitCodesPage = """
        # Exit statuses

        | status | means |
        |---|---|
        | 0 | succeeded; with `--detach`: the job is journaled |
        | 1 | the job failed or was cancelled |
        | 2 | the document or the inputs are wrong; nothing was started |
        | 3 | it is not known whether a service took a submit: look, then `pipeline resolve` |
        | 64 | wrong usage |
        | 75 | suspended, can be resumed; also after SIGINT or SIGTERM |
        | 130 | interrupted twice |

        Of several jobs the first of 3, 1, 75, 0 that occurs.

        ## In a script

        ```
        pipeline run job.json --key nightly
        case $? in
        75) pipeline resume nightly ;;
        esac
        ```
        """

    private static let environmentPage = """
        # The environment

        Flags win over these variables, and these over the configuration file; `pipeline config` shows which holds.

        | variable | is |
        |---|---|
        | `PIPELINE_STATE_DIR` | where jobs are kept; `--state-dir`. Without it `$XDG_STATE_HOME/pipeline`, else \
        `~/.local/state/pipeline` |
        | `PIPELINE_PROFILE` | the section of the configuration file that holds; `--profile` |
        | `PIPELINE_SECRETS_FILE` | a file of `NAME=value` lines; `--secrets-file` |
        | `PIPELINE_SECRET_NAME` | the secret `NAME` |
        | `PIPELINE_PLUGINS` | folders of plugins, separated by `:`; `--plugins` |
        | `PIPELINE_JOURNAL` | the PostgreSQL database that keeps the jobs of many machines: `postgres://…` |
        | `PIPELINE_JOURNAL_KEY` | what seals secrets in it: any long text, the same on all machines |
        | `PIPELINE_JOURNAL_LISTEN` | the server's own address, where `PIPELINE_JOURNAL` is that of a pooler |
        | `PIPELINE_CALLBACK_URL` | the public address of the daemon's receiver of callbacks |
        | `XDG_CONFIG_HOME` | where `pipeline/config.json` is; `~/.config` without it |
        | `NO_COLOR` | no colours; `--color never` |
        | `TERM` | `dumb`: plain lines instead of a live view |
        | `TZ` | the time zone in which times are shown |
        | `http_proxy`, `https_proxy`, `no_proxy` | proxies, as libcurl reads them |
        | `PIPELINE_CRASH_AT` | `POINT:N`, for tests: the process kills itself when it passes the point for the N-th time |
        | `SWIFT_BACKTRACE` | a crash of the program prints a backtrace, which may hold secrets |

        A document reads others as `${{ env.NAME }}`: as they were when the job started.
        """
}
