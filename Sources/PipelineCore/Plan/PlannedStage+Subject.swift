extension PlannedStage {
    /// The kind of a stage and the address of its service, as far as the document alone tells it.
    enum Subject: Sendable {
        case known(String)
        /// The address is what an expression gives.
        case address(Template)

        init(_ kind: String, at url: Template?) {
            if let url, url.constant == nil {
                self = .address(url)
            } else {
                self = .known(Self.text(kind, at: url?.constant))
            }
        }

        static func text(_ kind: String, at url: String?) -> String {
            guard let url, let authority = URLReference(url).authority, !authority.isEmpty else { return kind }
            let host = authority.utf8.lastIndex(of: UInt8(ascii: "@")).map { authority[$0...].dropFirst() }
            return "\(kind) \(host ?? authority[...])"
        }
    }

    /// Returns what durations of the stage are of (``StageSample/subject``): its kind, and the address of its service
    /// as far as the scope tells it. A scope without secrets: it is kept.
    package func subject(in scope: @autoclosure () -> Scope) -> String {
        switch durationSubject {
        case .known(let text): text
        case .address(let url): Subject.text(kind, at: try? url.evaluateText(in: scope()))
        }
    }
}
