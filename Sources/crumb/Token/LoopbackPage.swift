import SessionOperations

/// What a browser gets that comes back from a login, or asks for something else at its address.
enum LoopbackPage {
    /// The login has ended, or cannot end here.
    case done
    case failed(reason: String)
    /// The terminal asks the user a question that decides how the login ends.
    case question
    case notThisLogin
    case notFound
    /// Another user of this machine asked for the page to log in on.
    case anotherUser
    /// Sends the browser on.
    case redirect(to: String)

    private var status: String {
        switch self {
        case .done, .question: "200 OK"
        case .failed, .notThisLogin: "400 Bad Request"
        case .notFound: "404 Not Found"
        case .anotherUser: "403 Forbidden"
        case .redirect: "302 Found"
        }
    }

    private var page: LoginPage {
        switch self {
        case .done: .done
        case .failed(let reason): .failed(reason)
        case .question: LoginPage("One question", "Answer the question in the terminal to end this login.")
        case .notThisLogin: .notThisLogin
        case .notFound: LoginPage("Nothing here", "Crumb waits at another address for a login to end.")
        case .anotherUser: LoginPage("Not your login", "Another user of this machine began this login.")
        case .redirect: LoginPage("Log in", "The page to log in on opens.")
        }
    }

    /// The whole response.
    var response: [UInt8] {
        let body = Array(page.html.utf8)
        var lines = ["HTTP/1.1 \(status)", "Content-Length: \(body.count)", "Connection: close"]
        if case .redirect(let url) = self { lines.append("Location: \(url)") }
        lines += LoginPage.fields.map { "\($0.name): \($0.value)" }
        return Array("\(lines.joined(separator: "\r\n"))\r\n\r\n".utf8) + body
    }
}
