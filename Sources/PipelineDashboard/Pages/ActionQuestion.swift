import PipelineCore
import PipelineKit
import PipelinePictures

/// The question before an action on many jobs that nothing takes back.
struct ActionQuestion {
    private let action: JobAction
    private let jobs: [OwnedJob]
    private let back: String?
    private let page: Page

    init(_ action: JobAction, _ jobs: [OwnedJob], back: String?, _ page: Page) {
        self.action = action
        self.jobs = jobs
        self.back = back
        self.page = page
    }

    var markup: Markup {
        let verb = action.rawValue.prefix(1).uppercased() + action.rawValue.dropFirst()
        let title = "\(verb) \(JobsPage.number(jobs.count)) jobs?"
        // By their names: others may match a filter by the time of the answer.
        let names = jobs.map { job -> Markup in
            "<input type=\"hidden\" name=\"job\" value=\"\(job.snapshot.record.id.text)\">"
        }
        return page.frame(
            title,
            """
            <section class="empty"><h1>\(title)</h1><p>\(consequence)</p>\
            <form action="\(page.base)/actions" method="post" class="actions">\(names)\
            <input type="hidden" name="back" value="\(back ?? "/")">\
            <button class="danger" name="action" value="\(action.rawValue)">\(verb) them</button>\
            <a class="button" href="\(page.base)/">Leave them</a></form></section>
            """)
    }

    private var consequence: Markup {
        switch action {
        case .cancel: "Their services are told to end what they do for them, where the documents say how."
        case .retry, .resume, .pause: ""
        }
    }
}
