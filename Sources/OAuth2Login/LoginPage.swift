import WebPages
import WebPrimitives

/// The page that a browser shows when it comes back from a login. It has no script and loads nothing.
package struct LoginPage: Sendable {
    package let title: String
    /// One sentence or two, as plain text.
    package let text: String

    package init(_ title: String, _ text: String) {
        self.title = title
        self.text = text
    }

    /// The tokens are stored.
    package static let done = done(by: "Crumb")

    /// The tokens are stored by the program that the user knows by this name.
    package static func done(by program: String) -> LoginPage {
        LoginPage("You are logged in", "\(program) has the tokens. You can close this page.")
    }

    package static let notThisLogin = notThisLogin(of: "Crumb")

    package static func notThisLogin(of program: String) -> LoginPage {
        LoginPage("Not this login", "This response does not belong to a login that \(program) is waiting for.")
    }

    /// The page for a login that failed, or that Crumb did not store.
    ///
    /// - Parameter reason: The failure and its cause: a clause that may quote a server.
    package static func failed(_ reason: String) -> LoginPage {
        LoginPage("The login failed", "\(reason). You can close this page.")
    }

    /// The document. Its text may come from a server: markup in it is shown, not interpreted.
    package var html: String {
        MessagePage(title: Octets(title).description, paragraphs: [Octets(text).description]).html
    }

    /// The fields that keep a browser from loading anything for the page, and from storing or framing it.
    package static let fields = [
        (name: "Content-Type", value: "text/html; charset=utf-8"), (name: "Cache-Control", value: "no-store"),
        (name: "Content-Security-Policy", value: "\(MessagePage.securityPolicy); frame-ancestors 'none'"),
        (name: "Referrer-Policy", value: "no-referrer"),
    ]
}
