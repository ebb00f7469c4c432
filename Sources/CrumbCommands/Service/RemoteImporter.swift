import Captures
import CookieModel
import SessionClient
import SessionOperations
import SessionStore

/// Sends captures to a running service, piece by piece.
struct RemoteImporter {
    /// How much of a pipe is kept in memory, to see whether it was imported before.
    private static let pipeLimit = 32 << 20

    private let options: CaptureImport
    /// Whether a person sees how far it has come.
    private let showsProgress: Bool
    private let jar: RemoteJar
    private let service: ServiceConnection

    init(_ options: CaptureImport, showsProgress: Bool, into jar: RemoteJar, of service: ServiceConnection) {
        self.showsProgress = showsProgress
        self.jar = jar
        self.service = service
        var options = options
        // In the service's own form, because the options are part of an import's digest.
        options.url = options.url.flatMap { try? RequestURL($0).description }
        options.topLevel = options.topLevel.flatMap { try? RequestURL($0).description }
        self.options = options
    }

    func importFile(_ input: InputFile, isOwn: Bool) throws -> ImportReport {
        do {
            if try options.format?.isDatabase == true || input.databasePath() != nil { return refusal(of: input) }
            let digest = try options.again || isOwn ? nil : digest(of: input)
            // An input that cannot be read at all fails before any request is sent.
            let first = try input.nextChunk()
            guard !options.isDryRun else { return try send(input, beginning: first, digest: digest) }
            // A capture may come through a pipe, which cannot be sent twice: the jar has to exist before.
            let isNew = try jar.makeIfMissing()
            let report = try send(input, beginning: first, digest: digest)
            if isNew { if report.hasChanges { jar.noteCreation() } else { try jar.removeUnused() } }
            return report
        } catch let problem as CommandFailure where problem.failure.concernsInput {
            var report = ImportReport(source: input.name)
            report.append(ImportReport.Failure(problem, source: input.name))
            return report
        }
    }

    private func send(_ input: InputFile, beginning: [UInt8]?, digest: String?) throws -> ImportReport {
        var query = CaptureQuery()
        query.source = input.name
        query.format = (input.format ?? options.format)?.rawValue
        query.url = options.url
        query.topLevel = options.topLevel
        query.receivedNow = options.receivedNow
        query.requestCookies = options.takesRequestCookies
        query.again = options.again
        query.digest = digest
        query.dryRun = options.isDryRun
        let upload = Upload(input, beginning: beginning)
        let answer = Answer(
            service, ImportProgress(name: input.name, total: input.byteCount, isShown: showsProgress))
        defer { answer.progress.finish() }
        do {
            try service.stream(
                .followedImport(query, into: jar.name), upload: upload.next,
                interruption: { Interruption.isRequested ? upload.interruption : nil },
                consume: { try answer.take($0) })
        } catch let problem as CommandFailure where Interruption.isRequested && problem.failure != .interrupted {
            throw upload.interruption
        }
        return try answer.report()
    }

    private func digest(of input: InputFile) throws -> String? {
        guard try input.becomesRepeatable(within: RemoteImporter.pipeLimit) else { return nil }
        var digest = options.digest
        try input.forEachChunk { digest.update($0) }
        return Hexadecimal.text(digest.bytes)
    }

    private func refusal(of input: InputFile) -> ImportReport {
        var report = ImportReport(source: input.name)
        report.append(
            ImportReport.Failure(
                CommandFailure(
                    .inputUnrecognized,
                    "\(input.name): a service cannot read a browser's database; import it into a database "
                        + "file with --database"), source: input.name))
        return report
    }

    /// The capture on its way.
    private final class Upload {
        private let input: InputFile
        private var beginning: [UInt8]?
        private var byteCount = 0

        init(_ input: InputFile, beginning: [UInt8]?) {
            self.input = input
            self.beginning = beginning
        }

        func next() throws -> [UInt8]? {
            if Interruption.isRequested { throw interruption }
            let chunk = try beginning ?? input.nextChunk()
            beginning = nil
            byteCount += chunk?.count ?? 0
            if Interruption.isRequested { throw interruption }
            return chunk
        }

        var interruption: CommandFailure {
            CommandFailure(
                .interrupted, "stopped after \(byteCount) bytes; the part that the service received is stored")
        }
    }

    /// Lines that tell how far it has come, and at last the report.
    private final class Answer {
        private let service: ServiceConnection
        var progress: ImportProgress
        private var bytes: [UInt8] = []
        private var last: CaptureProgressLine?

        init(_ service: ServiceConnection, _ progress: ImportProgress) {
            self.service = service
            self.progress = progress
        }

        func take(_ chunk: [UInt8]) throws {
            bytes += chunk
            while let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
                let line = try service.decoded(Array(bytes[..<end]), as: CaptureProgressLine.self)
                bytes.removeSubrange(...end)
                last = line
                guard let here = line.progress else { continue }
                progress.show(bytes: here.bytes, entries: here.entries, cookies: here.cookies)
            }
        }

        func report() throws -> ImportReport {
            if let problem = last?.problem { throw SessionClientError(problem, from: service.address) }
            guard let report = last?.report else { throw SessionClientError(incompatible: service.address) }
            return report
        }
    }
}

extension FailureKind {
    /// Whether it is about a file that was to be read, and not about the service.
    fileprivate var concernsInput: Bool {
        switch self {
        case .inputEmpty, .inputIsFolder, .inputNotFound, .inputTruncated, .inputUnreadable, .inputUnrecognized,
            .interrupted, .tsharkNotFound:
            true
        default: false
        }
    }
}
