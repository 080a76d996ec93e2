import CCurl
import HTTPTypes

/// One request of an exchange on its way: the first, or one that follows a redirect. Each begins as a new value, so that
/// nothing of one is taken for the next one's.
struct CurlHop {
    let request: RequestDescription
    /// False from a redirect to another origin on: then our certificate stays here, as the other credentials do.
    let showsCertificate: Bool
    let receiver: ResponseReceiver
    let reader: BodyReader
    var startedAt: Duration = .zero
    /// The time for which into the hop the last byte of the body was handed over.
    var sentAfter: Duration?
    /// Those that were opened for it: one, or one for each address that was tried.
    var sockets: [Int32] = []
    /// The reason why one of them could not be; of interest when none could.
    var socketFailure: ExchangeFailure.Reason?
    /// True if it has a connection over which the request goes.
    var isConnected = false
    var response = ResponseHead()
    /// The place up to which the body was read.
    var bodyPosition: Int64 = 0
    /// The list from which libcurl reads the request's fields.
    var headerList: HeaderList?

    /// The head of the response, as far as it has come.
    struct ResponseHead {
        var parser = ResponseHeadParser()
        /// That of the final response.
        var final: (status: Int, headers: HTTPFields)?
    }

    init(_ request: RequestDescription, _ options: ExchangeOptions, showsCertificate: Bool = true) {
        self.request = request
        self.showsCertificate = showsCertificate
        receiver = ResponseReceiver(options)
        reader = BodyReader(request.body.segments)
    }
}

/// Lines in the form that libcurl takes (https://curl.se/libcurl/c/curl_slist_append.html); it must outlive the transfer.
final class HeaderList {
    private(set) var first: UnsafeMutablePointer<curl_slist>?

    init(_ lines: [String]) {
        for line in lines { first = curl_slist_append(first, line) }
    }

    deinit { curl_slist_free_all(first) }
}
