import Crypto
import HTTPMessages
import NIOPosix
import Platform
import Synchronization
import WebPrimitives

/// A HAR whose responses answer requests in the servers' place: one of a gateway, a browser, mitmproxy or Playwright.
///
/// An entry answers a request with the same method, URL and body. Of several entries, those come first whose requests
/// have the same values of the fields that the response names in `Vary`. Each answers one request, in their order. Then
/// the last one answers every further request.
///
/// Only the position and the key of each entry are in memory.
package final class TrafficReplay: Sendable {
    /// The key for finding an entry.
    private struct Key: Hashable {
        let method: String
        let url: RequestURL
    }

    /// An entry in the file.
    private struct Entry: Sendable {
        let place: Range<Int>
        /// The digest of the request's body; `nil` if the HAR does not have the body.
        let body: SHA256Digest?
        /// The values of request fields that a request must have, too.
        let needed: [Field]
        /// The values of request fields by which the response varies.
        let varying: [Field]
        /// Whether it answers only a request with a condition.
        let isNotModified: Bool
    }

    private typealias Field = (name: String, value: Octets?)

    /// The maximum length of a body that is compared.
    static let bodyLimit = JSONLimits.stringByteCount
    private static let blockLength = 1 << 15

    private let path: String
    private let file: Descriptor
    private let entries: [Entry]
    private let places: [Key: [Int]]
    /// The program that wrote it.
    let creator: String
    private let used: Mutex<Set<Int>> = Mutex([])
    let spools = BodySpool.Budget()

    /// How many of the entries can answer a request.
    package var count: Int { entries.count }

    /// Finds the entries of a HAR. If its end is missing, it has the complete entries.
    ///
    /// - Throws: ``GatewayError`` if the file cannot be read, or is not a HAR.
    package init(path: String) throws(GatewayError) {
        self.path = path
        let file: Descriptor
        do throws(SystemError) {
            file = try Descriptor(opening: path, O_RDONLY)
        } catch {
            throw GatewayError(code: .replayUnreadable, path, error.message)
        }
        self.file = file
        var entries: [Entry] = []
        var places: [Key: [Int]] = [:]
        var har = HAREntries(ReplayedResponse.selection)
        do throws(ReadError) {
            var position = 0
            while true {
                var block = try TrafficReplay.read(file, at: position, TrafficReplay.blockLength)
                guard !block.isEmpty else { break }
                // Entries are read by their positions in the file, so it must not be compressed.
                if position == 0, Inflate.isGzip(block) {
                    throw ReadError(reason: "it is compressed with gzip; unpack it first: gunzip --keep FILE")
                }
                // A byte order mark.
                if position == 0, block.starts(with: [0xEF, 0xBB, 0xBF]) {
                    for index in 0..<3 { block[index] = ASCII.space }
                }
                position += block.count
                for case (let key, let entry)? in har.read(block.span).map(TrafficReplay.entry) {
                    places[key, default: []].append(entries.count)
                    entries.append(entry)
                }
                guard har.problem == nil else { break }
            }
        } catch {
            file.close()
            throw GatewayError(code: .replayUnreadable, path, error.reason)
        }
        if case .malformed(let line, let column)? = har.problem {
            file.close()
            throw GatewayError(code: .replayUnreadable, path, "it is not JSON at line \(line), column \(column)")
        }
        guard har.problem == nil, har.hasEntries else {
            file.close()
            throw GatewayError(code: .replayUnreadable, path, "it has no log.entries")
        }
        self.entries = entries
        self.places = places
        creator = har.creator.text ?? ""
    }

    deinit {
        file.close()
    }

    // MARK: - Finding an entry

    private static func entry(_ entry: HAREntry) -> (Key, Entry)? {
        guard let method = entry[.method].text, let url = entry[.url].text.flatMap({ try? RequestURL($0) }),
            let status = entry[.status].integer,
            // A WebSocket, and responses that did not come.
            (200...599).contains(status), entry[.error].text?.isEmpty ?? true,
            !entry.requestFields.isOverfull, !entry.responseFields.isOverfull,
            TrafficReplay.isComplete(entry, method: method, status: status)
        else { return nil }
        let sent = ReplayedResponse.fields(entry.requestFields)
        let received = ReplayedResponse.fields(entry.responseFields)
        func fields(_ names: [String]) -> [Field] {
            names.map { name in (name, sent.first { $0.name == name }?.value) }
        }
        var needed: [String] = []
        // RFC 9110, section 15.3.7: a partial response answers only requests for that part.
        if status == 206 { needed = ["range"] }
        if method == "OPTIONS", sent.contains(where: { $0.name == "access-control-request-method" }) {
            needed = TrafficReplay.preflightFields
        }
        // Bodies of most HARs are decoded, and the cookies are those of the recording, so these fields do not count.
        let varying = received.filter { $0.name == "vary" }.flatMap { $0.value.split(separator: ASCII.comma) }
            .map { String(decoding: Octets(Array($0)).trimmingBlanks.lowercased, as: UTF8.self) }
            .filter { !["*", "accept-encoding", "cookie"].contains($0) }
        let key = Key(method: method, url: url)
        return (
            key,
            Entry(
                place: entry.place, body: TrafficReplay.digest(entry), needed: fields(needed),
                varying: fields(varying), isNotModified: status == 304)
        )
    }

    /// Whether the body of a response was recorded, or does not matter. A size that is negative or missing is unknown; an
    /// empty text with another size stands for a body that the recorder did not have.
    private static func isComplete(_ entry: HAREntry, method: String, status: Int) -> Bool {
        if method == "HEAD" || entry.text?.isEmpty == false { return true }
        switch status {
        case 204, 301, 302, 303, 304, 307, 308: return true
        default:
            let size = entry[.size].integer ?? -1
            return size == 0 || size < 0 && entry.text != nil
        }
    }

    /// The fields that distinguish CORS preflights (Fetch Standard, section 3.3.2).
    private static let preflightFields = ["origin", "access-control-request-method", "access-control-request-headers"]

    /// The digest of the request's body; `nil` if the HAR does not have it.
    private static func digest(_ entry: HAREntry) -> SHA256Digest? {
        guard let text = entry[.postText].octets else { return nil }
        let isBase64 = [entry[.postEncoding], entry[.postOwnEncoding]].contains { $0.text == "base64" }
        return digest(of: isBase64 ? Base64.decode(text) ?? text.bytes : text.bytes)
    }

    private static func digest(of octets: [UInt8]) -> SHA256Digest { SHA256.hash(data: octets) }

    /// The entries that may answer a request.
    private func candidates(for request: ForwardedRequest) -> [Int] {
        guard !request.isUpgrade else { return [] }
        let isConditional = request.head.has("if-none-match") || request.head.has("if-modified-since")
        let isPreflight = request.method == "OPTIONS" && request.head.has("access-control-request-method")
        func found(_ url: RequestURL) -> [Int] {
            (places[Key(method: request.method, url: url)] ?? []).filter { index in
                let entry = entries[index]
                return (isConditional || !entry.isNotModified) && (!isPreflight || !entry.needed.isEmpty)
                    && entry.needed.allSatisfy { request.has($0) }
            }
        }
        let exact = found(request.url)
        guard exact.isEmpty else { return exact }
        let redacted = SecretRedaction.url(Array(request.url.description.utf8))
        return (try? RequestURL(Octets(redacted))).map(found) ?? []
    }

    /// Whether the body of a request is needed to choose an entry.
    func needsBody(of request: ForwardedRequest) -> Bool {
        request.framing != .none && candidates(for: request).contains { entries[$0].body != nil }
    }

    /// Chooses the entry that answers a request, and marks it as used.
    ///
    /// - Parameter body: The request's body; `nil` if it has none, or if it is longer than ``bodyLimit``.
    func choose(for request: ForwardedRequest, body: [UInt8]?) -> Int? {
        var digests: [SHA256Digest] = []
        if let body {
            digests.append(TrafficReplay.digest(of: body))
            if let redacted = NamedBody(request.head).flatMap({ SecretRedaction.body(body, $0) }) {
                digests.append(TrafficReplay.digest(of: redacted))
            }
        }
        let equal = candidates(for: request).filter { index in
            entries[index].body.map { digests.contains($0) } ?? true
        }
        let varied = equal.filter { entries[$0].varying.allSatisfy { request.has($0) } }
        let choice = varied.isEmpty ? equal : varied
        return used.withLock { used in
            let index = choice.first { !used.contains($0) } ?? choice.last
            if let index { used.insert(index) }
            return index
        }
    }

    // MARK: - Reading an entry

    /// Reads an entry up to its body.
    func response(_ index: Int, toHead isToHead: Bool) async throws -> ReplayedResponse {
        let place = entries[index].place
        let entry = try await reading { [file, path] in
            var har = HAREntries(ReplayedResponse.selection, entryAt: place.lowerBound)
            var position = place.lowerBound
            while position < place.upperBound {
                let length = min(TrafficReplay.blockLength, place.upperBound - position)
                let block = try TrafficReplay.read(file, at: position, length)
                guard !block.isEmpty else { break }
                position += block.count
                if let entry = har.read(block.span).first { return entry }
            }
            throw ReadError.changed(path)
        }
        guard let response = ReplayedResponse(entry, creator: creator, toHead: isToHead) else {
            throw ReadError.changed(path)
        }
        return response
    }

    /// Octets of the file.
    func octets(at position: Int) async throws -> [UInt8] {
        try await reading { [file] in try TrafficReplay.read(file, at: position, 1 << 16) }
    }

    /// Reads the file outside of the event loops. Completes the read even if the gateway stops meanwhile.
    private func reading<Result: Sendable>(_ read: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await Task.detached { try await NIOThreadPool.singleton.runIfActive(read) }.value
    }

    private static func read(_ file: Descriptor, at position: Int, _ count: Int) throws(ReadError) -> [UInt8] {
        do throws(SystemError) {
            return try file.read(count, at: Int64(position))
        } catch {
            throw ReadError(reason: error.message)
        }
    }

    /// The error if the recording can no longer be read.
    struct ReadError: Error {
        let reason: String

        static func changed(_ path: String) -> ReadError { ReadError(reason: "the file '\(path)' has changed") }
    }
}

extension ForwardedRequest {
    /// Whether the head has a field with that value, or for `nil`, does not have the field.
    fileprivate func has(_ field: (name: String, value: Octets?)) -> Bool {
        head.fields.first { head.lowercasedName($0) == field.name }.map { Octets(head.octets, in: $0.value) }
            == field.value
    }
}
