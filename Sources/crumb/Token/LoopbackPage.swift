/// The page that a browser shows when it comes back from a login. It has no script and loads nothing.
enum LoopbackPage {
    case done
    case failed
    case notThisLogin
    case notFound
    /// Another user of this machine asked for the page to log in on.
    case anotherUser
    /// Sends the browser on.
    case redirect(to: String)

    private var status: String {
        switch self {
        case .done: "200 OK"
        case .failed, .notThisLogin: "400 Bad Request"
        case .notFound: "404 Not Found"
        case .anotherUser: "403 Forbidden"
        case .redirect: "302 Found"
        }
    }

    private var text: (title: String, body: String) {
        switch self {
        case .done: ("You are logged in", "Crumb has the tokens. You can close this page.")
        case .failed: ("The login failed", "The terminal says why. You can close this page.")
        case .notThisLogin: ("Not this login", "This is no answer to the login that Crumb waits for.")
        case .notFound: ("Nothing here", "Crumb waits at another address for a login to end.")
        case .anotherUser: ("Not your login", "Another user of this machine began this login.")
        case .redirect: ("Log in", "The page to log in on opens.")
        }
    }

    private var location: String {
        if case .redirect(let url) = self { "\r\nLocation: \(url)" } else { "" }
    }

    /// The whole response.
    var response: [UInt8] {
        let body = """
            <!doctype html><html lang="en"><meta charset="utf-8"><title>\(text.title)</title>\
            <meta name="viewport" content="width=device-width"><h1>\(text.title)</h1><p>\(text.body)</p></html>

            """
        let head = """
            HTTP/1.1 \(status)\(location)\r
            Content-Type: text/html; charset=utf-8\r
            Content-Length: \(body.utf8.count)\r
            Cache-Control: no-store\r
            Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r
            Referrer-Policy: no-referrer\r
            Connection: close\r
            \r

            """
        return Array(head.utf8) + Array(body.utf8)
    }
}
