import Captures
import CookieModel
import SessionOperations
import SessionStore
import Synchronization

/// A capture that is being sent here, piece by piece. One piece is read at a time, on whatever thread.
final class CaptureUpload: Sendable {
    private struct State {
        var capture: CaptureImport
        /// The bytes that have arrived and are not read yet, since the capture may have been imported before; `nil`
        /// once they are too many to hold back.
        var held: [UInt8]? = []
    }

    /// The jar; `nil` for a dry run without one.
    private let jar: CookieJar?
    /// The name of the jar.
    let jarName: String
    private let source: String
    private let options: CaptureImport.Options
    /// Whether a capture that was imported before is imported again.
    private let isAgain: Bool
    private let state: Mutex<State>

    /// An upload into a jar.
    ///
    /// - Parameter isAgain: whether a capture that was imported before is imported again.
    init(
        of source: String, into target: sending ImportTarget, _ options: CaptureImport.Options, again isAgain: Bool,
        now: Timestamp
    ) {
        jar = target.jar
        jarName = target.name
        self.source = source
        self.options = options
        self.isAgain = isAgain
        state = Mutex(
            State(
                capture: CaptureImport(of: source, into: target, options, now: now), held: isAgain ? nil : []))
    }

    /// Takes the next octets.
    ///
    /// - Parameter limit: how many are held back, to see whether the capture was imported before.
    /// - Returns: how far it has come.
    func read(_ bytes: [UInt8], holding limit: Int) throws -> CaptureProgressLine.Progress {
        try state.withLock { state in
            if state.capture.byteCount == 0, (state.held ?? []).isEmpty, bytes.starts(with: CaptureUpload.sqlite) {
                throw ServiceFailure.databaseUploaded
            }
            if state.held != nil {
                state.held?.append(contentsOf: bytes)
                if (state.held?.count ?? 0) > limit { try CaptureUpload.release(&state) }
            } else {
                try state.capture.read(bytes[...])
            }
            return CaptureProgressLine.Progress(
                bytes: state.capture.byteCount + (state.held?.count ?? 0), entries: state.capture.entryCount,
                cookies: state.capture.cookieCount)
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
                return try state.capture.finish(
                    after: ImportReport.Failure(
                        code: "input-truncated", message: "\(source): the upload was interrupted", source: source))
            }
            return try state.capture.finish(asNew: isAgain)
        }
    }

    private static let sqlite = Array("SQLite format 3\0".utf8)

    /// Reads the bytes that were held back.
    private static func release(_ state: inout State) throws {
        guard let held = state.held else { return }
        state.held = nil
        if !held.isEmpty { try state.capture.read(held[...]) }
    }
}
