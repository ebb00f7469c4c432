import Foundation

/// A browser in node: `Browser.js` says what it can do.
enum Browser {
    /// One thing that happens in a browser.
    struct Step: Encodable {
        /// Opens a document at this URL in the tab.
        var open: String?
        /// The origins above a frame, nearest first.
        var ancestors: [String]?
        /// The document may not use cookies.
        var sandboxed: Bool?
        /// The browser takes no cookie of the document.
        var refuses: Bool?
        /// The browser cuts values off at their first non-ASCII character, as WebKitGTK does.
        var mangles: Bool?
        /// The document has no storage.
        var withoutStorage: Bool?
        /// How long a stored value may be.
        var quota: Int?
        /// There is neither `location` nor `document`.
        var bare: Bool?
        /// A message handler, as in WebKit.
        var handler: String?
        /// A function that takes messages, as in Chromium.
        var binding: String?
        /// Whether there is a `cookieStore`.
        var cookieStore: Bool?
        /// The answers to `fetch` and `XMLHttpRequest`, by URL.
        var answers: [String: Answer]?
        /// The time, in milliseconds.
        var now: Int64?
        /// Begins with an empty session storage.
        var newTab: Bool?
        /// A Set-Cookie line that comes from a server.
        var http: String?
        /// The URL that it comes from.
        var from: String?
        /// A script to run in the document.
        var script: String?

        static func open(_ url: String) -> Step { Step(open: url) }
        static func script(_ source: String) -> Step { Step(script: source) }
        static func http(_ line: String, from url: String) -> Step { Step(http: line, from: url) }

        /// The step with something changed.
        func with(_ change: (inout Step) -> Void) -> Step {
            var copy = self
            change(&copy)
            return copy
        }
    }

    /// An answer to a request of a script.
    struct Answer: Encodable {
        var url: String
        var status = 200
        var redirected = false
    }

    /// What happened at a step.
    struct Result: Decodable {
        /// The script's value, as text.
        let value: String?
        let error: String?
        /// What was assigned to `document.cookie`.
        let sets: [String]?
        let messages: [String]?
        /// The unhandled rejections.
        let rejections: [String]?
    }

    /// Runs each list of steps in a browser of its own.
    static func run(_ runs: [[Step]]) throws -> [[Result]] {
        let source = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: "Browser.js")
        let output = try Node.run([source.path], input: try JSONEncoder().encode(runs))
        return try JSONDecoder().decode([[Result]].self, from: output)
    }

    /// Runs steps in one browser.
    static func run(_ steps: Step...) throws -> [Result] {
        try run([steps]).first ?? []
    }
}
