import ArgumentParser
import Captures
import CookieModel
import Platform
import SessionOperations
import SessionStore

/// Where an export goes: a file that appears whole, readable by its owner alone, or standard output.
final class ExportDestination {
    /// How much is gathered before it is written.
    private static let pieceByteCount = 1 << 16

    /// The file; `nil` for standard output.
    let file: String?
    private let replaces: Bool
    /// The file under a name of its own, until it is whole.
    private var temporary: String?
    private var output: Descriptor
    private var isPublished = false
    /// Appended to, and written when there is enough.
    var bytes: [UInt8] = []

    /// Opens the destination.
    ///
    /// - Parameters:
    ///   - path: the file; `-` for standard output whatever it is, `nil` for standard output if it is no terminal.
    ///   - replaces: whether a file that is there already goes.
    ///   - own: files of the database, which are no destination.
    init(_ path: String?, replaces: Bool, sparing own: [String], console: Console) throws {
        self.replaces = replaces
        guard let path, path != "-" else {
            if path == nil, console.outputIsTerminal {
                throw CommandFailure(
                    .outputIsTerminal,
                    "anyone who sees the cookies is signed in: name a file with --output, or show them with --output -")
            }
            file = nil
            output = .standardOutput
            return
        }
        file = path
        try SessionStoreError.checkDestination(path, sparing: own, replacing: replaces)
        guard !FileSystem.isSpecial(path) else {
            // A pipe or /dev/stdout: there is nothing that could be put in its place.
            output = try ExportDestination.open(path, O_WRONLY, as: path)
            return
        }
        let temporary = PrivateFile.temporaryName(for: FileSystem.resolved(path))
        output = try ExportDestination.open(temporary, O_WRONLY | O_CREAT | O_EXCL, as: path)
        self.temporary = temporary
    }

    deinit {
        if output != .standardOutput { output.close() }
        if let temporary, !isPublished { unlink(temporary) }
    }

    /// Writes the gathered bytes, once there are enough of them.
    func writeIfFull() throws {
        if bytes.count >= ExportDestination.pieceByteCount { try writeAll() }
    }

    /// Writes the rest; a file gets its name. It is on the disk then, or an error says that nothing changed.
    func finish() throws {
        try writeAll()
        guard let file, let temporary else { return }
        do throws(SystemError) { try output.synchronize() } catch { throw notWritten(error.number) }
        let publishing = PrivateFile.publish(file: temporary, as: FileSystem.resolved(file), replacing: replaces)
        guard publishing == 0 else { throw notWritten(publishing) }
        // A file that was linked to its name still has the other one.
        unlink(temporary)
        isPublished = true
    }

    private func writeAll() throws {
        defer { bytes.removeAll(keepingCapacity: true) }
        guard file != nil else { return try Console.write(bytes, to: output.number) }
        do throws(SystemError) { try output.write(bytes) } catch { throw notWritten(error.number) }
    }

    /// Opens a file to write the one that the user names `path`.
    private static func open(
        _ file: String, _ flags: Int32, as path: String
    ) throws(SessionStoreError) -> Descriptor {
        do throws(SystemError) {
            return try Descriptor(opening: file, flags)
        } catch {
            throw .notWritten(path, error.number)
        }
    }

    private func notWritten(_ failure: Int32) -> SessionStoreError {
        .notWritten(file ?? "standard output", failure)
    }
}

/// Writes cookies in one format to one destination.
struct FileExporter {
    private let destination: ExportDestination
    private var exporter: CookieExporter

    init(_ format: ExportFormat, to destination: ExportDestination, host: WebHost?, now: Timestamp) {
        self.destination = destination
        exporter = CookieExporter(format, to: destination.file, host: host, now: now)
    }

    /// Writes a cookie unless its lifetime is over.
    mutating func write(_ record: CookieRecord) throws {
        exporter.write(record, to: &destination.bytes)
        try destination.writeIfFull()
    }

    /// Writes the web storage of an origin, after all cookies.
    mutating func write(_ part: ExportedCookies.StoragePart) throws {
        exporter.write(part, to: &destination.bytes)
        try destination.writeIfFull()
    }

    /// Accounts for a cookie whose value cannot be read back.
    mutating func leaveOut(unreadable cookie: Cookie) {
        exporter.leaveOut(unreadable: cookie)
    }

    /// Ends the file, and returns the outcome of the cookies.
    mutating func finish() throws -> ExportReport {
        // If nothing is written, an existing file is kept.
        if !exporter.isNothing {
            exporter.finish(&destination.bytes)
            try destination.finish()
        }
        return exporter.report
    }
}

extension ExportReport {
    /// The written cookies, for a person, and the properties that the format loses.
    var text: [String] {
        var rows = ["\(output.map { "\($0): " } ?? "")\(counted(written, "cookie")) written"]
        if expired > 0 { rows[0] += ", \(expired) expired" }
        if storageItems > 0 { rows[0] += ", \(counted(storageItems, "localStorage item"))" }
        if storageItemsLeftOut > 0 {
            rows.append("  \(format) has no localStorage: \(counted(storageItemsLeftOut, "item")) left out")
        }
        let order = CookieFeature.allCases.map(\.rawValue)
        let lost = notKept.sorted { (order.firstIndex(of: $0.id) ?? 0) < (order.firstIndex(of: $1.id) ?? 0) }
        if !lost.isEmpty {
            let parts = lost.map { $0.count == written ? $0.title : "\($0.title) (of \($0.count))" }
            rows.append("  \(format) does not keep: \(parts.joined(separator: ", "))")
        }
        return rows
    }

    /// Prints the outcome of the cookies. The command ends with the matching status.
    func tell(_ console: Console) throws {
        if console.isJSON {
            // Without a file, the cookies go to standard output.
            try console.writeJSON(self, toStandardError: output == nil)
        } else {
            for line in text { console.note(line) }
        }
        for line in complaints { console.error(line) }
        if let status { throw status.exitCode }
    }

    /// The exit status of the command; `nil` for success.
    private var status: FailureKind? {
        if !unreadable.isEmpty || storageItemsUnreadable > 0 { return .valueDamaged }
        if !leftOut.isEmpty { return .cookieNotHeld }
        return isNothing ? .nothingToSend : nil
    }
}

/// Where an export goes.
struct ExportOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: .file(
            "The file to write, readable only by you; '-' is standard output. Default: standard output, "
                + "unless it is a terminal."))
    var output: String?

    @Flag(help: "Replace an existing file.")
    var force = false
}
