import CookieModel
import WebPages

/// A moment as the pages and their script show it: to the second for a person, in full for a program.
struct MomentView: Encodable {
    let datetime: String
    let text: String

    init(_ moment: Timestamp) {
        datetime = moment.rfc3339
        text = Timestamp(seconds: moment.seconds).rfc3339
    }

    /// - Returns: `nil` if the text is no date and time of RFC 3339.
    init?(rfc3339 text: String) {
        guard let moment = Timestamp(rfc3339: text.utf8) else { return nil }
        self.init(moment)
    }
}

/// The head of a column of a table.
enum TableColumn: ExpressibleByStringLiteral {
    case text(String)
    /// A column of numbers, which are aligned on the right.
    case number(String)

    init(stringLiteral name: String) {
        self = .text(name)
    }

    fileprivate var cell: HTML {
        switch self {
        case .text(let name): "<th scope=\"col\">\(name)</th>"
        case .number(let name): "<th scope=\"col\" class=\"number\">\(name)</th>"
        }
    }
}

/// What several pages show alike.
extension HTML {
    /// A table that scrolls sideways if it is too wide.
    ///
    /// - Parameters:
    ///   - label: The name of the table for people who hear the page.
    ///   - rows: The rows: whole lines.
    static func table(_ label: String, _ columns: [TableColumn], _ rows: [HTML]) -> HTML {
        """
        <div class="scroll" role="region" aria-label="\(label)" tabindex="0">
        <table>
        <thead><tr>\(columns.map(\.cell))</tr></thead>
        <tbody>
        \(rows)</tbody>
        </table>
        </div>

        """
    }

    /// The part of a list that belongs to a site, under the site's name. A click opens and closes it.
    static func siteDetails(_ site: String, summary: String, isOpen: Bool, _ content: HTML) -> HTML {
        """
        <details\(isOpen ? " open" : nil)>
        <summary><h3>\(site)</h3> <span class="note">\(summary)</span></summary>
        \(content)</details>

        """
    }

    /// A moment, on a line of its own.
    ///
    /// - Parameter absent: The text for `nil`, after the line.
    static func moment(_ moment: MomentView?, or absent: String = "") -> HTML {
        guard let moment else { return "\n\(absent)" }
        return "<time datetime=\"\(moment.datetime)\">\(moment.text)</time>\n"
    }

    /// How much of a lifetime is left, as a bar on a line of its own; an empty line if there is no end, or nothing left.
    static func lifetime(from start: Timestamp, to end: Timestamp?, now: Timestamp) -> HTML {
        guard let end, end > now, end > start else { return "\n" }
        let whole = Double(end.microseconds) - Double(start.microseconds)
        let left = Double(end.microseconds) - Double(max(now, start).microseconds)
        let percent = Int((left / whole * 100).rounded())
        return """
            <meter min="0" max="100" low="15" optimum="100" value="\(percent)" title="\(percent) % left">\
            \(percent) % left</meter>

            """
    }

    /// What keeps the page from showing what it was asked for. Screen readers announce it.
    static func alert(_ text: String) -> HTML {
        "<p class=\"problem\" role=\"alert\">\(text)</p>"
    }

    /// The answer to a question. Screen readers announce it.
    static func verdict(_ text: String) -> HTML {
        "<p class=\"verdict\" role=\"status\">\(text)</p>\n"
    }

    /// A reason for a decision.
    ///
    /// - Parameters:
    ///   - id: The stable identifier, which the documentation lists.
    ///   - remedy: What to do about it; `nil` if there is nothing.
    static func reason(_ explanation: String, id: String, remedy: String? = nil) -> HTML {
        let fix: HTML? = remedy.map { "<br>Fix: \($0)" }
        return "<p class=\"reason\">\(explanation) <code>\(id)</code>\(fix)</p>"
    }

    /// A remark in a cell of a table.
    static func remark(_ text: String) -> HTML {
        "<p class=\"reason\">\(text)</p>"
    }
}
