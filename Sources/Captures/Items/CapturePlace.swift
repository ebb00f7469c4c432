/// Where in a capture something stands, in the words a person uses to find it again.
public struct CapturePlace: Sendable, Hashable, CustomStringConvertible {
    /// The name of the capture: a file's name or "standard input".
    public var source: String
    /// Which entry, counted from 1: a HAR entry, a header block, a cookie of a list, a row of a database.
    public var entry: Int?
    /// Which line, counted from 1.
    public var line: Int?
    /// Which byte of the line, counted from 1.
    public var column: Int?

    /// A place in the capture called `source`.
    public init(source: String, entry: Int? = nil, line: Int? = nil, column: Int? = nil) {
        self.source = source
        self.entry = entry
        self.line = line
        self.column = column
    }

    /// The place for a message: `capture.har: entry 3`, `cookies.txt: line 12`.
    public var description: String {
        var parts: [String] = []
        if let entry { parts.append("entry \(entry)") }
        if let line { parts.append("line \(line)") }
        if let column { parts.append("column \(column)") }
        return parts.isEmpty ? source : "\(source): \(parts.joined(separator: ", "))"
    }
}
