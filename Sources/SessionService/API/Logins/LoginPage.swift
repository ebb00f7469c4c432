import HTTPTypes
import Hummingbird
import NIOCore

/// The page that a browser shows when it comes back from a login. It has no script and loads nothing.
enum LoginPage {
    case done
    case failed
    case notThisLogin

    private var status: HTTPResponse.Status { self == .done ? .ok : .badRequest }

    private var text: (title: String, body: String) {
        switch self {
        case .done: ("You are logged in", "Crumb has the tokens. You can close this page.")
        case .failed: ("The login failed", "Where it began, it is said why. You can close this page.")
        case .notThisLogin: ("Not this login", "This is no answer to a login that Crumb waits for.")
        }
    }

    var response: Response {
        let page = """
            <!doctype html><html lang="en"><meta charset="utf-8"><title>\(text.title)</title>\
            <meta name="viewport" content="width=device-width"><h1>\(text.title)</h1><p>\(text.body)</p></html>

            """
        return Response(
            status: status,
            headers: [
                .contentType: "text/html; charset=utf-8", .cacheControl: "no-store",
                .contentSecurityPolicy: "default-src 'none'; frame-ancestors 'none'",
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(string: page)))
    }
}
