/// A page with one message: how a login ended, or why a page cannot be shown.
///
/// The page contains its style and loads nothing, so that any server or proxy can send it, at any URL.
package struct MessagePage: Sendable {
    private let title: String
    private let heading: String
    private let paragraphs: [String]
    private let note: String?

    /// - Parameters:
    ///   - title: The title of the window.
    ///   - heading: The heading; `nil` if it is the title.
    ///   - paragraphs: The message, as plain text.
    ///   - note: A detail for the reader who reports the message.
    package init(title: String, heading: String? = nil, paragraphs: [String], note: String? = nil) {
        self.title = title
        self.heading = heading ?? title
        self.paragraphs = paragraphs
        self.note = note
    }

    /// The style that all pages of Crumb share: colors, in light and dark, and type.
    package static let style = String(decoding: PackageResources.page_css, as: UTF8.self)

    /// The value of the page's `Content-Security-Policy` field, which allows only ``style``.
    ///
    /// The digest is a constant, because a program that sends no page must not compute it. A test compares the two.
    package static let securityPolicy =
        "default-src 'none'; style-src 'sha256-UGzhMzTr8G9KmQAfXMIYMHVNcapBZ1n1DcBcONNQCLU='; base-uri 'none'; form-action 'none'"

    /// The document. Its texts may come from a server: markup in them is shown, not interpreted.
    package var html: String {
        let lines: [HTML] = paragraphs.map { "<p>\($0)</p>\n" }
        let page = HTML.document(
            title: title, head: "<style>\(HTML(trusted: MessagePage.style))</style>",
            body: """
                <header><p class="home">Crumb</p></header>
                <main>
                <h1>\(heading)</h1>
                \(lines)\(note.map { "<p class=\"note\">\($0)</p>\n" })</main>
                """)
        return page.markup
    }
}
