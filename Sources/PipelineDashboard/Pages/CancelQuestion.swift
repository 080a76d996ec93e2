import PipelineCore
import PipelineKit
import PipelinePictures

/// The question before many jobs are cancelled: nothing takes that back.
struct CancelQuestion {
    private let jobs: [OwnedJob]
    private let back: String?
    private let page: Page

    init(_ jobs: [OwnedJob], back: String?, _ page: Page) {
        self.jobs = jobs
        self.back = back
        self.page = page
    }

    var markup: Markup {
        let title = "Cancel \(JobsPage.number(jobs.count)) jobs?"
        // By their names: others may match a filter by the time of the answer.
        let names = jobs.map { job -> Markup in
            "<input type=\"hidden\" name=\"job\" value=\"\(job.snapshot.record.id.text)\">"
        }
        return page.frame(
            title,
            """
            <section class="empty"><h1>\(title)</h1>\
            <p>Their services are told to end what they do for them, where the documents say how.</p>\
            <form action="\(page.base)/actions" method="post" class="actions">\(names)\
            <input type="hidden" name="back" value="\(back ?? "/")">\
            <button class="danger" name="action" value="\(JobAction.cancel.rawValue)">Cancel them</button>\
            <a class="button" href="\(page.base)/">Leave them</a></form></section>
            """)
    }
}
