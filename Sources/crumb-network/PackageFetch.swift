import AsyncHTTPClient
import CookieModel
import NIOCore
import NIOHTTP1
import OfflinePackages
import PackageStore

/// Downloads packages. What has come before a failure stays, and the next attempt goes on there.
enum PackageFetch {
    private static let redirectLimit = 10
    /// How many responses may each have a part of the file.
    private static let partLimit = 100
    /// How long the head of a response, and then each part of the body, may take.
    private static let patience = TimeAmount.seconds(30)
    /// How long a whole download may take. A longer one goes on with the next attempt.
    private static let longest = TimeAmount.hours(2)

    /// - Throws: `PackageError`.
    static func fetch(_ download: PackageDownload) async throws {
        try await fetch(download, by: .shared)
    }

    /// The same by other clients.
    static func fetch(_ download: PackageDownload, by clients: NetworkClients) async throws {
        var transfer = download.transfer()
        var (url, redirects, restarts, parts, reached) = (download.url, 0, 0, 0, Int64(0))
        while true {
            let (response, reason) = try await response(to: url, transfer, by: clients)
            if [301, 302, 303, 307, 308].contains(response.status.code) {
                redirects += 1
                guard redirects <= redirectLimit else {
                    throw PackageError(.notFetched, "\(download.url.origin) redirects too often; check the URL")
                }
                url = try url.downloadRedirect(to: response.headers.first(name: "Location"))
                continue
            }
            let step = try transfer.step(status: Int(response.status.code)) { response.headers.first(name: $0) }
            switch step {
            case .complete: return
            case .restart:
                restarts += 1
                guard restarts < 3 else {
                    throw PackageError(.notFetched, "\(url.origin) sends parts of other files; try again later")
                }
                try download.prepare(from: 0, validator: nil)
                transfer = PackageTransfer()
            case .write(let position):
                try download.prepare(from: position, validator: transfer.validator)
                let end = try await write(response, from: position, to: download, transfer.validator, reason)
                // Without a length, the end of the archive tells.
                if try transfer.end(at: end) ?? !ZipDirectory.isCutOff(download) { return }
                parts += 1
                guard transfer.validator != nil, end > reached, parts < partLimit else {
                    throw PackageError(
                        .notFetched, "\(url.origin) has sent only a part; \(kept(end, transfer.validator))")
                }
                reached = end
            }
        }
    }

    private static func response(
        to url: RequestURL, _ transfer: PackageTransfer, by clients: NetworkClients
    ) async throws -> (response: HTTPClientResponse, reason: (any Error) -> PackageError) {
        var proxy: Proxy?
        func failure(_ error: any Error) -> PackageError {
            if let error = error as? NetworkSettingsError { return PackageError(.notFetched, error.reason) }
            return PackageError(.notFetched, "\(url.origin): \(HTTPExchange.reason(error, by: proxy))")
        }
        do {
            proxy = try clients.client(for: url.description).proxy
            let route = try clients.settings.route(to: url.description)
            let client = try clients.client(for: route, readTimeout: patience)
            var request = HTTPClientRequest(url: url.description)
            for (name, value) in transfer.fields { request.headers.add(name: name, value: value) }
            let response = try await client.execute(request, deadline: .now() + longest)
            let usedProxy = proxy
            return (
                response,
                { PackageError(.notFetched, "\(url.origin): \(HTTPExchange.reason($0, by: usedProxy))") }
            )
        } catch {
            throw failure(error)
        }
    }

    /// - Returns: Where the body has ended in the file.
    private static func write(
        _ response: HTTPClientResponse, from start: Int64, to download: PackageDownload, _ validator: String?,
        _ reason: (any Error) -> PackageError
    ) async throws -> Int64 {
        let limit = PackageLimits().fileLength
        var position = start
        do {
            for try await piece in response.body {
                let octets = Array(piece.readableBytesView)
                guard position + Int64(octets.count) <= limit else {
                    download.remove()
                    throw PackageTransfer.tooLong(limit)
                }
                try download.write(octets, at: position)
                position += Int64(octets.count)
            }
            return position
        } catch let error as PackageError {
            throw error
        } catch is HTTPParserError {
            // The head was HTTP.
            throw PackageError(
                .notFetched, "\(download.url.origin): the connection broke; \(kept(position, validator))")
        } catch {
            throw PackageError(.notFetched, "\(reason(error).description); \(kept(position, validator))")
        }
    }

    private static func kept(_ count: Int64, _ validator: String?) -> String {
        validator == nil
            ? "the same command begins again, since the server sends no strong entity tag"
            : "\(count) octets are here, and the same command goes on after them if the server allows it"
    }
}
