import Captures
import CookieModel
import SessionOperations
import SessionStore
import Synchronization

/// A capture that is being sent here, piece by piece. One piece is read at a time, on whatever thread.
final class CaptureUpload: Sendable {
    private struct State {
        var importer: CaptureImporter
        /// The bytes that have arrived and are not read yet, since the capture may have been imported before; `nil`
        /// once they are too many to hold back.
        var held: [UInt8]? = []
    }

    /// The jar; `nil` for a dry run without one.
    private let jar: CookieJar?
    /// The name of the jar.
    let jarName: String
    private let source: String
    private let options: CaptureImport
    private let state: Mutex<State>

    /// An upload into a jar.
    init(of source: String, into target: sending LazyJar, _ options: CaptureImport, now: Timestamp) {
        jar = target.jar
        jarName = target.name
        self.source = source
        self.options = options
        state = Mutex(
            State(
                importer: CaptureImporter(of: source, into: target, options, now: now),
                held: options.again ? nil : []))
    }

    /// Takes the next octets.
    ///
    /// - Parameter limit: how many are held back, to see whether the capture was imported before.
    /// - Returns: how far it has come.
    func read(_ bytes: [UInt8], holding limit: Int) throws -> CaptureProgressLine.Progress {
        try state.withLock { state in
            if state.importer.byteCount == 0, (state.held ?? []).isEmpty, bytes.starts(with: CaptureUpload.sqlite) {
                throw ServiceFailure.databaseUploaded
            }
            if state.held != nil {
                state.held?.append(contentsOf: bytes)
                if (state.held?.count ?? 0) > limit { try CaptureUpload.release(&state) }
            } else {
                try state.importer.read(bytes[...])
            }
            return CaptureProgressLine.Progress(
                bytes: state.importer.byteCount + (state.held?.count ?? 0), entries: state.importer.entryCount,
                cookies: state.importer.cookieCount)
        }
    }

    /// Ends the import.
    ///
    /// - Parameter isWhole: whether all octets have come.
    func finish(isWhole: Bool) throws -> ImportReport {
        try state.withLock { state in
            if isWhole, let held = state.held {
                var digest = options.digest
                digest.update(held)
                if let earlier = try jar?.importedCapture(digest) {
                    return ImportReport(source: source, importedBefore: earlier)
                }
            }
            try CaptureUpload.release(&state)
            guard isWhole else {
                return try state.importer.finish(
                    after: ImportReport.Failure(
                        code: "input-truncated", message: "\(source): the upload was interrupted", source: source))
            }
            return try state.importer.finish(asNew: options.again)
        }
    }

    private static let sqlite = Array("SQLite format 3\0".utf8)

    /// Reads the bytes that were held back.
    private static func release(_ state: inout State) throws {
        guard let held = state.held else { return }
        state.held = nil
        if !held.isEmpty { try state.importer.read(held[...]) }
    }
}
