import HTTPCaching
import HTTPMessages
import NIOCore
import OfflinePackages
import PackageStore
import Platform
import Synchronization
import WebPrimitives

/// The offline packages of the jar as a source, in front of the cache and the servers.
///
/// A document begins with the newest packages, and what it loads comes from the same ones, however often they are updated
/// meanwhile. A resource that does not have its digest is as good as none.
final class PackageSource: ResponseSource {
    private let shelf: PackageShelf
    private let pages = Mutex(PageBeginnings<OpenedPackages>())

    init(_ shelf: PackageShelf) {
        self.shelf = shelf
    }

    func answer(
        _ pending: inout PendingRequest, of connection: isolated ClientConnection, _ record: inout GatewayRecord
    ) async throws -> Bool? {
        // Of a request that passes unchanged, it is not known whose it is.
        guard pending.decision.context != nil, let packages = await packages(for: pending.request, connection.number)
        else { return nil }
        let request = pending.request
        guard request.method == "GET" || request.method == "HEAD", request.framing == .none, !request.isUpgrade,
            request.hasCanonicalTarget, let resource = packages.find(request.url),
            let answer = CachedResponse(resource).answer(
                to: CacheRequest(method: Octets(request.method), url: request.url, fields: MessageFields(request.head)),
                age: nil),
            let response = try? ForwardedResponse(answer)
        else { return nil }
        guard let body = await PackageBody(resource, answer.body) else {
            shelf.reportDamage(resource)
            return nil
        }
        pages.withLock { $0.note(request.url, answeredBy: packages) }
        connection.recordWithoutServer(&pending)
        await pending.entry?.respond(response, from: .cache)
        pending.sourceStatus = Octets("crumb; hit; detail=package-\(resource.package)-\(resource.version)")
        return try await connection.deliver(response, from: body, to: pending, &record)
    }

    /// The packages that answer a request; `nil` without any.
    private func packages(for request: ForwardedRequest, _ client: UInt64) async -> OpenedPackages? {
        let newest =
            if let known = shelf.known { known } else {
                await WorkerThreads.shared.run { [shelf] in shelf.newest() }
            }
        let page = PageBeginnings<OpenedPackages>.Request(
            url: request.url, referrer: request.referringPage, isDocument: request.loadsDocument,
            isServiceWorker: request.loadsServiceWorker, client: client)
        let packages = pages.withLock { $0.packages(for: page, newest: newest) }
        return packages.isEmpty ? nil : packages
    }
}

extension ForwardedRequest {
    /// Whether it loads the page of a tab or a frame. Over http, browsers have no Sec-Fetch-Dest.
    fileprivate var loadsDocument: Bool {
        guard let destination = head.values("sec-fetch-dest").first else {
            return head.has("upgrade-insecure-requests")
        }
        return ["document", "iframe", "frame", "embed", "object", "fencedframe"].contains(destination)
    }

    /// Whether it loads the script of a service worker, or looks for a newer one. Each such request has the field
    /// `Service-Worker` (Service Workers, section "Update").
    fileprivate var loadsServiceWorker: Bool {
        head.values("sec-fetch-dest").first == "serviceworker" || head.has("service-worker")
    }

    /// The page that it names, as a URL of the site.
    fileprivate var referringPage: RequestURL? {
        guard let value = head.values("referer").first else { return nil }
        return try? RequestURL(mapping?.remote(value) ?? value)
    }
}

extension CachedResponse {
    /// The response that a package has. A cache asks whether it is still valid before each use, unless the package says
    /// otherwise: a rollback must not find the newer files in a browser.
    fileprivate init(_ resource: PackagedResource) {
        var fields = MessageFields(
            resource.fields.map { MessageFields.Field(Octets($0.name), Octets($0.value)) })
        if !fields.has("etag") { fields.append("ETag", Octets("\"\(resource.digest.prefix(32))\"")) }
        if !fields.has("cache-control") { fields.append("Cache-Control", "no-cache") }
        fields.append("Content-Length", Octets(String(resource.length)))
        self.init(
            url: resource.url, status: resource.status, fields: fields, nominated: NominatedFields(),
            requestTime: resource.added, responseTime: resource.added, extent: .whole(length: resource.length))
    }
}

extension ForwardedResponse {
    /// The answer of a package.
    fileprivate init(_ answer: StoredAnswer) throws(MessageError) {
        let reason =
            switch answer.status {
            case 200: "OK"
            case 206: "Partial Content"
            case 301: "Moved Permanently"
            case 302: "Found"
            case 304: "Not Modified"
            case 307: "Temporary Redirect"
            case 308: "Permanent Redirect"
            case 404: "Not Found"
            case 410: "Gone"
            case 416: "Range Not Satisfiable"
            default: ""
            }
        var octets = Array("HTTP/1.1 \(answer.status) \(reason)\r\n".utf8)
        for field in answer.fields.lines { octets.append(field: field.name, field.value) }
        octets += [ASCII.carriageReturn, ASCII.lineFeed]
        try self.init(MessageHead(octets, from: .server), toHead: answer.body == nil)
    }
}

extension MessageFields {
    /// The fields of a request.
    fileprivate init(_ head: MessageHead) {
        self.init(head.fields.map { Field(Octets(head.octets, in: $0.name), Octets(head.octets, in: $0.value)) })
    }
}

/// The body of a response in a package.
private struct PackageBody: ResponseBody {
    /// How many octets are read at once, so that a change of threads is worth it.
    private static let batchLength = 1 << 18

    private let resource: PackagedResource
    /// The octets that were read before; `nil` if they are read piece by piece.
    private var whole: ArraySlice<UInt8>?
    private var rest: Range<Int64>

    /// Opens a body, after its digest was checked.
    ///
    /// - Parameter range: The positions that are passed on; `nil` for none.
    /// - Returns: `nil` if the body was changed.
    init?(_ resource: PackagedResource, _ range: Range<Int64>?) async {
        self.resource = resource
        rest = range ?? 0..<0
        guard range != nil else { return }
        if resource.length <= PackagedResource.wholeLength {
            guard let body = await WorkerThreads.shared.run({ resource.verifiedBody() }) else { return nil }
            whole = body[Int(rest.lowerBound)..<Int(rest.upperBound)]
        } else {
            guard await WorkerThreads.shared.run({ resource.isIntact() }) else { return nil }
        }
    }

    var isHere: Bool { true }

    mutating func nextPiece(within limit: TimeAmount?) async throws -> BodyReader.Piece {
        guard !rest.isEmpty else { return .end(trailers: []) }
        if let whole {
            rest = 0..<0
            return .data(ByteBuffer(bytes: whole))
        }
        let (resource, start, end) = (resource, rest.lowerBound, rest.upperBound)
        let octets = await WorkerThreads.shared.run { () -> [UInt8]? in
            var octets: [UInt8] = []
            while octets.count < PackageBody.batchLength, start + Int64(octets.count) < end {
                guard let piece = resource.read(from: start + Int64(octets.count)) else { return nil }
                octets += piece
            }
            return octets
        }
        guard let octets else { throw StreamError.endedEarly }
        let count = min(Int64(octets.count), end - start)
        rest = (start + count)..<end
        return .data(ByteBuffer(bytes: octets.prefix(Int(count))))
    }
}
