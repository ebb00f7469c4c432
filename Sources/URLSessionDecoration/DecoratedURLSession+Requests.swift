public import CookieModel
public import Foundation
import Platform

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// The methods of URLSession. Each follows redirects with the cookies for the new URL, and throws what
/// ``exchange(for:in:limit:fallback:)`` throws: `URLError` as URLSession does, and the errors of the jar and of redirects.
extension DecoratedURLSession {
    /// Requests a URL.
    public func data(from url: URL) async throws -> (Data, URLResponse) {
        try await data(for: URLRequest(url: url))
    }

    /// Makes a request.
    ///
    /// - Parameter context: The context of the request; `nil` for a user's visit to its URL.
    public func data(for request: URLRequest, in context: RequestContext? = nil) async throws -> (Data, URLResponse) {
        let answer = try await exchange(for: request, file: nil, in: context).payload
        return (answer.data, answer.response)
    }

    /// Makes a request with a body, which is sent again at a redirect with 307 or 308.
    ///
    /// - Parameter context: The context of the request; `nil` for a user's visit to its URL.
    public func upload(
        for request: URLRequest, from bodyData: Data, in context: RequestContext? = nil
    ) async throws -> (Data, URLResponse) {
        var request = request
        request.httpBody = bodyData
        return try await data(for: request, in: context)
    }

    /// Makes a request with a file as its body. The file is opened again if a redirect with 307 or 308 needs it.
    ///
    /// - Parameter context: The context of the request; `nil` for a user's visit to its URL.
    public func upload(
        for request: URLRequest, fromFile fileURL: URL, in context: RequestContext? = nil
    ) async throws -> (Data, URLResponse) {
        // Foundation on Linux waits for a file that it cannot read, and stops the program at a URL of another scheme.
        var isFolder: ObjCBool = false
        guard fileURL.isFileURL, FileManager.default.fileExists(atPath: fileURL.path, isDirectory: &isFolder) else {
            throw URLError(.fileDoesNotExist)
        }
        guard !isFolder.boolValue else { throw URLError(.fileIsDirectory) }
        guard FileManager.default.isReadableFile(atPath: fileURL.path) else {
            throw URLError(.noPermissionsToReadFile)
        }
        var request = request
        request.httpBody = nil
        request.httpBodyStream = nil
        let answer = try await exchange(for: request, file: fileURL, in: context).payload
        return (answer.data, answer.response)
    }

    /// Downloads a URL to a file in the folder for temporary files, which the caller moves or removes.
    public func download(from url: URL) async throws -> (URL, URLResponse) {
        try await download(for: URLRequest(url: url))
    }

    /// Downloads the response to a file in the folder for temporary files, which the caller moves or removes. Only the
    /// user can read it. Neither is it in the session's cache, nor does it come from there: a response only invalidates
    /// what is stored, as any other does.
    ///
    /// - Parameter context: The context of the request; `nil` for a user's visit to its URL.
    public func download(
        for request: URLRequest, in context: RequestContext? = nil
    ) async throws -> (URL, URLResponse) {
        let transfer = try await transfer(for: request, in: context)
        let response = try await transfer.head()
        let url = FileManager.default.temporaryDirectory.appending(path: "crumb-download-\(UUID().uuidString)")
        let file: Descriptor
        do {
            file = try Descriptor(opening: url.path, O_WRONLY | O_CREAT | O_EXCL)
        } catch {
            throw URLError(.cannotCreateFile)
        }
        defer { file.close() }
        do {
            while let piece = try await transfer.next() {
                try await WorkerThreads.shared.run { try file.write(Array(piece)) }
            }
        } catch {
            try? FileManager.default.removeItem(at: url)
            throw error is SystemError ? URLError(.cannotWriteToFile) : error
        }
        return (url, response)
    }

    /// Requests a URL, and returns the body as it comes.
    public func bytes(from url: URL) async throws -> (AsyncBytes, URLResponse) {
        try await bytes(for: URLRequest(url: url))
    }

    /// Makes a request, and returns the body as it comes. It is not in the session's cache, nor does it come from there.
    ///
    /// - Parameter context: The context of the request; `nil` for a user's visit to its URL.
    public func bytes(
        for request: URLRequest, in context: RequestContext? = nil
    ) async throws -> (AsyncBytes, URLResponse) {
        let transfer = try await transfer(for: request, in: context)
        return (AsyncBytes(transfer: transfer), try await transfer.head())
    }

    /// The bytes of a response. Read them once. The request is cancelled if they are released before their end.
    ///
    /// On Apple's platforms, the request is suspended while more than 1 MiB waits for the reader. Foundation on Linux
    /// cannot suspend a request: what waits is in memory, so download long responses to a file.
    public struct AsyncBytes: AsyncSequence, Sendable {
        let transfer: Transfer

        /// Reads the bytes.
        public struct AsyncIterator: AsyncIteratorProtocol {
            let transfer: Transfer
            private var piece: [UInt8] = []
            private var position = 0

            init(_ transfer: Transfer) {
                self.transfer = transfer
            }

            /// The next byte; `nil` at the end.
            ///
            /// - Throws: `URLError`: `.cancelled` if the task is cancelled.
            public mutating func next() async throws -> UInt8? {
                while position == piece.count {
                    guard let next = try await transfer.next() else { return nil }
                    (piece, position) = (Array(next), 0)
                }
                defer { position += 1 }
                return piece[position]
            }
        }

        /// Creates an iterator.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(transfer) }
    }
}
