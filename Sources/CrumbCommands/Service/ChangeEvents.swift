import SessionClient
import SessionOperations

/// The changes that a service sends as server-sent events (HTML, section 9.2.6), as far as the service uses them: each
/// event has one line of data.
final class ChangeEvents {
    /// Longer than any event of the service's.
    private static let lineLimit = 1 << 20

    /// How far the reader has come.
    private(set) var position: Int64
    /// Whether the service has sent anything at all.
    private(set) var haveBegun = false
    private let service: ServiceConnection
    private let body: (ChangeList) throws -> Void
    /// The beginning of a line whose end has not come.
    private var line: [UInt8] = []
    private var event = ""
    private var data: [UInt8] = []
    private var isAlive = false

    /// - Parameter body: is given each change, and each gap.
    init(after position: Int64, _ service: ServiceConnection, _ body: @escaping (ChangeList) throws -> Void) {
        self.position = position
        self.service = service
        self.body = body
    }

    /// Takes the next bytes of the stream.
    func take(_ bytes: [UInt8]) throws {
        (haveBegun, isAlive) = (true, true)
        let parts = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            line += part
            guard line.count <= ChangeEvents.lineLimit else { throw SessionClientError(incompatible: service.address) }
            guard index < parts.count - 1 else { break }
            defer { line = [] }
            try takeLine()
        }
    }

    /// Forgets the event that the stream broke off in.
    ///
    /// - Returns: whether the stream had brought anything.
    func endStream() -> Bool {
        defer { (line, event, data, isAlive) = ([], "", [], false) }
        return isAlive
    }

    private func takeLine() throws {
        guard !line.isEmpty else { return try dispatch() }
        let name = line.prefix { $0 != UInt8(ascii: ":") }
        let value = line.dropFirst(name.count + 1).drop { $0 == UInt8(ascii: " ") }
        switch String(decoding: name, as: UTF8.self) {
        case "event": event = String(decoding: value, as: UTF8.self)
        case "data": data = Array(value)
        default: break
        }
    }

    private func dispatch() throws {
        defer { (event, data) = ("", []) }
        switch event {
        case "change":
            let change: ChangeReport = try service.decoded(data)
            position = change.position
            try body(ChangeList(changes: [change], position: position, hasGap: false))
        case "missed":
            let missed: MissedChanges = try service.decoded(data)
            try body(ChangeList(changes: [], position: missed.position, hasGap: true))
            position = missed.position
        default: break
        }
    }
}
