import PipelineCore
import Testing

/// Until when links that were signed beforehand are good.
@Suite struct LinkExpiryTests {
    @Test(
        "the ways in which stores say it",
        arguments: [
            (
                "https://b.s3.amazonaws.com/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400",
                "2013-05-25T00:00:00.000Z"
            ),
            (
                "https://storage.googleapis.com/k?X-Goog-Date=20261120T120000Z&X-Goog-Expires=900",
                "2026-11-20T12:15:00.000Z"
            ),
            ("https://d.cloudfront.net/k?Expires=1792324800&Signature=x&Key-Pair-Id=y", "2026-10-18T12:00:00.000Z"),
            (
                "https://a.blob.core.windows.net/c/k?sv=2024-11-04&se=2026-11-20T12%3A00%3A00Z&sr=b&sig=x#part",
                "2026-11-20T12:00:00.000Z"
            ),
        ])
    func known(url: String, time: String) {
        #expect(LinkExpiry.time(of: url)?.description == time)
    }

    @Test(
        "what says nothing, or nonsense, has no such time",
        arguments: [
            "https://example.com/a", "https://example.com/a?Expires=soon",
            "https://example.com/a?se=2026-11-20T12:00:00Z",
            "https://example.com/a?X-Amz-Date=2013&X-Amz-Expires=1", "https://example.com/a?X-Amz-Expires=60",
            "https://example.com/a?X-Amz-Date=20130524T000000Z&X-Amz-Expires=-5", "a text?Expires=1792324800", "",
        ])
    func unknown(url: String) {
        #expect(LinkExpiry.time(of: url) == nil)
    }
}
