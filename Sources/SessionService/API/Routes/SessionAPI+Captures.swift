import Captures
import CookieModel
import HTTPTypes
import Hummingbird
import NIOCore
import SessionOperations
import SessionStore

extension SessionAPI {
    /// How much of a capture is kept in memory to see whether it was imported before, and how much is read at once.
    private static let heldByteCount = 4 << 20
    private static let pieceByteCount = 1 << 18
    /// How many bytes pass from one line of progress to the next.
    private static let progressByteCount = 1 << 20

    var captureRoutes: [ServiceRoute] {
        [
            ServiceRoute(.importCapture, use: takeCapture)
        ]
    }

    private func takeCapture(_ request: Request, _ context: ServiceRequestContext) async throws -> Response {
        let query = context.query
        let format = try query.choice("format", CaptureFormat.self)
        if format?.isDatabase == true { throw ServiceFailure.databaseUploaded }
        let options = CaptureImport(
            url: try query.url("url")?.description, topLevel: try query.url("topLevel")?.description,
            receivedNow: try query.flag("receivedNow") ?? false,
            takesRequestCookies: try query.flag("requestCookies") ?? false, format: format,
            again: try query.flag("again") ?? false, isDryRun: try query.flag("dryRun") ?? false)
        let source = try query.one("source") ?? "upload"
        guard (1...4096).contains(source.utf8.count) else {
            throw ServiceFailure.parameterInvalid("source", "use 1 to 4096 bytes")
        }
        let target = try importTarget(named: context.jarName, isDryRun: options.isDryRun)
        if let digest = try query.hexadecimal("digest", byteCount: 32), !options.again,
            let earlier = try await blocking({ [jar = target.jar] in try jar?.importedCapture(digest) })
        {
            let report = ImportReport(source: source, importedBefore: earlier)
            guard wantsProgress(request) else { return .json(report) }
            return Response(
                status: .ok, headers: SessionAPI.progressFields,
                body: ResponseBody(byteBuffer: SessionAPI.line(CaptureProgressLine(report: report))))
        }
        let upload = CaptureUpload(of: source, into: target, options, now: now())
        guard wantsProgress(request) else {
            var nobody: (any ResponseBodyWriter)?
            return .json(try await report(on: upload, in: request.body, telling: &nobody))
        }
        return Response(
            status: .ok, headers: SessionAPI.progressFields,
            body: ResponseBody { writer in
                let last: CaptureProgressLine
                var follower: (any ResponseBodyWriter)? = writer
                do {
                    last = CaptureProgressLine(
                        report: try await report(on: upload, in: request.body, telling: &follower))
                } catch {
                    // The status has been said already.
                    context.health?.note(error, peer: context.peer)
                    last = CaptureProgressLine(problem: ServiceFailure(error).document)
                }
                try await writer.write(SessionAPI.line(last))
                try await writer.finish(nil)
            })
    }

    /// The jar for a capture. A dry run needs none.
    private func importTarget(named name: String, isDryRun: Bool) throws -> LazyJar {
        guard isDryRun else { return LazyJar(try jar(named: name)) }
        let existing = try database.existingJar(named: name, policy: policy)
        return LazyJar(named: name, existing: existing, policy: policy, creation: nil)
    }

    private static let progressFields: HTTPFields = [
        .contentType: "application/x-ndjson", .cacheControl: "no-store",
    ]

    /// Whether the caller follows how far it has come.
    private func wantsProgress(_ request: Request) -> Bool {
        request.headers[.accept]?.contains("application/x-ndjson") == true
    }

    private static func line(_ line: CaptureProgressLine) -> ByteBuffer {
        ByteBuffer(bytes: JSONText.of(line) + [UInt8(ascii: "\n")])
    }

    /// Reads a capture to its end.
    ///
    /// - Parameter follower: whom to tell how far it has come.
    @concurrent private func report(
        on upload: CaptureUpload, in body: RequestBody, telling follower: inout (any ResponseBodyWriter)?
    ) async throws -> ImportReport {
        var piece = ByteBuffer()
        var told = 0
        do {
            for try await chunk in body {
                piece.writeImmutableBuffer(chunk)
                guard piece.readableBytes >= SessionAPI.pieceByteCount else { continue }
                let progress = try await take(&piece, upload)
                if progress.bytes - told >= SessionAPI.progressByteCount {
                    told = progress.bytes
                    try await follower?.write(SessionAPI.line(CaptureProgressLine(progress: progress)))
                }
            }
        } catch let problem as ServiceFailure {
            throw problem
        } catch let error as SessionStoreError {
            throw error
        } catch {
            // The sender has disconnected. The part that arrived is kept.
            _ = try await take(&piece, upload)
            try await blocking { _ = try upload.finish(isWhole: false) }
            throw error
        }
        _ = try await take(&piece, upload)
        defer { changes.notify(upload.jarName) }
        return try await blocking { try upload.finish(isWhole: true) }
    }

    private func take(
        _ piece: inout ByteBuffer, _ upload: CaptureUpload
    ) async throws -> CaptureProgressLine.Progress {
        let bytes = Array(piece.readableBytesView)
        piece.clear()
        defer { changes.notify(upload.jarName) }
        return try await blocking { try upload.read(bytes, holding: SessionAPI.heldByteCount) }
    }
}

extension ServiceFailure {
    static let databaseUploaded = ServiceFailure(
        .inputUnrecognized,
        "a browser's database cannot be uploaded; read it with 'crumb import' on its computer")
}
