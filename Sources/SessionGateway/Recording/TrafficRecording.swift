import CookieModel
import HTTPMessages
import NIOCore
import NIOPosix
import OAuth2
import Platform
import SessionStore
import WebPrimitives

/// A HAR 1.2 file of the requests and responses that pass through a gateway.
///
/// Entries are written one after the other, each when its response has ended. The end of the document is rewritten
/// after each of them, so the file is a complete HAR after every entry. A process that is killed while it writes leaves
/// at most the last entry incomplete; `crumb import` and ``TrafficReplay`` read the ones before it.
///
/// A recording without secrets is checked: each entry for the secrets that are known when it is written, and the whole
/// file for those that are known at the end (``finish()``).
///
/// If the file cannot be written, the recording ends and the traffic continues.
package actor TrafficRecording {
    /// How many octets are written at a time.
    private static let pieceLength = 1 << 18

    private let path: String
    private let file: Descriptor
    /// The secrets that are left out of the entries; `nil` if none are.
    nonisolated let redaction: SecretRedaction?
    nonisolated let spools = BodySpool.Budget()
    private let failed: @Sendable (String) -> Void
    private let removed: @Sendable (Int) -> Void
    /// The secrets that must not be in the file.
    private var secrets = KnownSecrets()
    /// How many of them there were at the last check of the whole file.
    private var checkedSecrets = 0
    /// How many occurrences of secrets were removed, and how many of them were reported.
    private(set) var removals = 0
    private var reportedRemovals = 0
    /// Where the next entry goes.
    private var position: Int64
    private var count = 0
    private var hasFailed = false
    private var isWriting = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// Creates the file, which only its owner can read.
    ///
    /// - Parameters:
    ///   - hasSecrets: Whether values of cookies and credentials are recorded.
    ///   - failed: Receives the reason, once, if no more can be recorded.
    ///   - removed: Receives the number of secrets that the check has removed from entries.
    /// - Throws: ``GatewayError`` if the file exists or cannot be created.
    package init(
        path: String, withSecrets hasSecrets: Bool, failed: @escaping @Sendable (String) -> Void,
        removed: @escaping @Sendable (Int) -> Void = { _ in }
    ) throws(GatewayError) {
        self.path = path
        self.failed = failed
        self.removed = removed
        redaction = hasSecrets ? nil : SecretRedaction()
        let beginning = HARText.beginning
        position = Int64(beginning.count)
        let file: Descriptor
        do throws(SystemError) {
            file = try Descriptor(opening: path, O_RDWR | O_CREAT | O_EXCL)
        } catch {
            throw GatewayError(code: .recordingUnavailable, path, error.message)
        }
        do throws(SystemError) {
            try file.write(beginning + HARText.end, at: 0)
        } catch {
            file.close()
            unlink(path)
            throw GatewayError(code: .recordingUnavailable, path, error.message)
        }
        self.file = file
    }

    deinit {
        file.close()
    }

    /// Adds the secrets of a jar to those that must not be in the file.
    func learn(from jar: CookieJar) async {
        guard redaction != nil else { return }
        let (cookies, fields, tokens) = await jar.database.readingToEnd {
            ((try? jar.cookies())?.readable ?? [], (try? jar.headerFields()) ?? [], (try? jar.tokens.all()) ?? [])
        }
        for cookie in cookies { learn(cookie.value, cookie.isHTTPOnly ? .credential : .value) }
        for field in fields where field.name.lowercased() != "user-agent" {
            let isCredential = SecretNames.secrets.contains(field: field.name.lowercased())
            learn(field.value?.exposedBytes ?? [], isCredential ? .credential : .value)
        }
        for case .success(let stored) in tokens {
            for token in [stored.tokens.accessToken, stored.tokens.refreshToken, stored.tokens.idToken] {
                learn(token?.exposedBytes ?? [], .credential)
            }
        }
    }

    private func learn(_ secret: some Collection<UInt8>, _ kind: KnownSecrets.Kind) {
        secrets.add(secret, kind, excluding: RecordedEntry.names)
    }

    /// Writes an entry, after those that are being written.
    func write(_ entry: RecordedEntry) async {
        await acquire()
        for (secret, kind) in entry.secrets { learn(secret, kind) }
        if !hasFailed { await record(entry) }
        release()
    }

    /// Removes the secrets from the file that have become known since their entries were written, and reports how many
    /// there were. More can be recorded afterwards.
    package func finish() async {
        await acquire()
        if secrets.count > checkedSecrets, count > 0 {
            checkedSecrets = secrets.count
            do {
                let found = try await check()
                removals += found
            } catch {
                let reason = (error as? SystemError)?.message ?? "\(error)"
                failed(
                    "the recording in '\(path)' could not be checked for secrets: \(reason). Do not give it to others.")
            }
        }
        release()
        if removals > reportedRemovals { removed(removals - reportedRemovals) }
        reportedRemovals = removals
    }

    /// Waits until no other operation uses the file.
    private func acquire() async {
        while isWriting { await withCheckedContinuation { waiting.append($0) } }
        isWriting = true
    }

    private func release() {
        isWriting = false
        if !waiting.isEmpty { waiting.removeFirst().resume() }
    }

    /// Overwrites all known secrets in the file. Its length does not change.
    ///
    /// - Returns: How many were overwritten.
    private func check() async throws -> Int {
        let (secrets, end) = (secrets, position)
        return try await Task.detached { [file] in
            try await NIOThreadPool.singleton.runIfActive {
                var found = 0
                var place = Int64(HARText.beginning.count)
                while place < end {
                    let length = min(TrafficRecording.pieceLength + secrets.longest, Int(end - place))
                    var piece = try file.read(length, at: place)
                    let count = secrets.overwrite(&piece)
                    if count > 0 { try file.write(piece, at: place) }
                    found += count
                    guard place + Int64(piece.count) < end, piece.count > secrets.longest else { break }
                    place += Int64(piece.count - secrets.longest)
                }
                return found
            }
        }.value
    }

    /// Writes an entry. If that fails, the recording ends with the entry before it.
    private func record(_ entry: RecordedEntry) async {
        do {
            position = try await put(entry)
            count += 1
        } catch {
            hasFailed = true
            // The part of the entry that was written is cut off, so that the file is a complete HAR again.
            try? file.write(HARText.end, at: position)
            ftruncate(file.number, off_t(position) + off_t(HARText.end.count))
            let reason = (error as? SystemError)?.message ?? "\(error)"
            failed(
                "the recording in '\(path)' ends after \(count) \(count == 1 ? "entry" : "entries"): \(reason). "
                    + "Requests go on. Make room, and start the gateway again to record to another file.")
        }
    }

    /// Writes an entry and the end of the document.
    ///
    /// - Returns: Where the next entry goes.
    private func put(_ entry: RecordedEntry) async throws -> Int64 {
        var position = position
        var octets = Array((count == 0 ? "\n" : ",\n").utf8)
        for part in entry.parts {
            switch part {
            case .json(let json): octets += json
            case .body(let spool, let encoding):
                var place = 0
                var encoder = RecordedBodyEncoder(encoding)
                while case .data(let piece)? = try await spool.piece(at: place) {
                    place += piece.readableBytes
                    encoder.append(piece, to: &octets)
                    guard octets.count > TrafficRecording.pieceLength + secrets.longest else { continue }
                    removals += secrets.overwrite(&octets)
                    // A secret may begin in the rest, and end in the next piece.
                    let end = octets.count - secrets.longest
                    position = try await append(Array(octets[..<end]), at: position)
                    octets.removeFirst(end)
                }
                encoder.end(&octets)
            }
        }
        removals += secrets.overwrite(&octets)
        return try await append(octets + HARText.end, at: position) - Int64(HARText.end.count)
    }

    /// Writes octets, outside of the event loops.
    ///
    /// - Returns: Where they end.
    private func append(_ octets: [UInt8], at position: Int64) async throws -> Int64 {
        try await NIOThreadPool.singleton.runIfActive { [file] in try file.write(octets, at: position) }
        return position + Int64(octets.count)
    }
}

/// The encoding of a body in a JSON string.
enum RecordedBodyEncoding {
    /// As it is: UTF-8.
    case text
    case base64
}

/// Writes the pieces of a body into a JSON string.
private struct RecordedBodyEncoder {
    private let encoding: RecordedBodyEncoding
    /// The octets that do not fill a group of three yet.
    private var rest: [UInt8] = []

    init(_ encoding: RecordedBodyEncoding) {
        self.encoding = encoding
    }

    mutating func append(_ piece: ByteBuffer, to octets: inout [UInt8]) {
        switch encoding {
        case .text: octets += HARText.escaped(piece.readableBytesView)
        case .base64:
            rest += piece.readableBytesView
            let whole = rest.count - rest.count % 3
            octets += Base64.encode(rest[..<whole])
            rest.removeFirst(whole)
        }
    }

    mutating func end(_ octets: inout [UInt8]) {
        octets += Base64.encode(rest)
        rest = []
    }
}
