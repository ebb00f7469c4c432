import BrowserCookies
import Captures
import CookieModel
import SessionOperations
import SessionStore

/// Imports the cookies of files, of standard input and of browsers' databases into a jar, and shows progress.
struct LocalImporter {
    /// How much of a pipe is kept in memory, to see whether it was imported before.
    private static let pipeLimit = 32 << 20

    let target: LazyJar
    /// The options of the import.
    let options: CaptureImport
    /// Whether a person sees how far it has come.
    let showsProgress: Bool
    let now: Timestamp
    var database = BrowserDatabase.Options()
    /// The container of Firefox, by the folder of a profile.
    var container: (_ folder: String) throws -> Int = { _ in 0 }

    func importFile(_ input: InputFile, isOwn: Bool) throws -> ImportReport {
        var options = options
        options.format = input.format ?? options.format
        if options.format?.isDatabase ?? true, let path = try databasePath(input) {
            return try importDatabase(path, input)
        }
        if !options.again, !isOwn, try isRepeatable(input), let earlier = try earlierImport(of: input) {
            return ImportReport(source: input.name, importedBefore: earlier)
        }
        if let folder = input.firefoxProfile { options.container = try container(folder) }
        var capture = CaptureImporter(of: input.name, into: target, options, now: now)
        var progress = ImportProgress(name: input.name, total: input.byteCount, isShown: showsProgress)
        defer { progress.finish() }
        do {
            try input.forEachChunk { chunk in
                try stopWhereAsked(after: capture.byteCount, capture.place)
                try capture.read(chunk)
                progress.show(bytes: capture.byteCount, entries: capture.entryCount, cookies: capture.cookieCount)
            }
            try stopWhereAsked(after: capture.byteCount, capture.place)
        } catch let problem as CommandFailure {
            // Reading failed half-way. The part before is kept.
            return try capture.finish(after: ImportReport.Failure(problem, source: input.name))
        }
        // The digest of an input that cannot be read twice is known only at the end.
        return try capture.finish(asNew: options.again || isOwn || input.format == nil)
    }

    /// Imports a browser's database. It changes all the time, so that it is never one that was imported before.
    private func importDatabase(_ path: String, _ input: InputFile) throws -> ImportReport {
        var storer = CaptureStorer(of: input.name, into: target, options, now: now)
        do {
            var options = database
            options.container = try container(InputFile.folder(of: path))
            let database = BrowserDatabase(path: path, source: input.name, options: options)
            let format = try database.read(as: self.options.format) { item in try storer.take(item) }
            storer.report.format = format.rawValue
        } catch let error as CaptureError {
            try storer.take(.failure(error))
        }
        try storer.finish(nil)
        storer.report.conclude()
        return storer.report
    }

    private func databasePath(_ input: InputFile) throws -> String? {
        do {
            return try input.databasePath()
        } catch is CommandFailure {
            // The import itself reports the problem with the file.
            return nil
        }
    }

    private func stopWhereAsked(after byteCount: Int, _ place: CapturePlace?) throws {
        if Interruption.isRequested { throw CommandFailure.stopped(after: byteCount, place, "what was read is stored") }
    }

    private func isRepeatable(_ input: InputFile) throws -> Bool {
        do {
            return try input.becomesRepeatable(within: LocalImporter.pipeLimit)
        } catch is CommandFailure {
            // The import itself reports the problem with the file.
            return false
        }
    }

    private func earlierImport(of input: InputFile) throws -> CaptureRecord? {
        guard let jar = target.jar else { return nil }
        var digest = options.digest
        var progress = ImportProgress(name: input.name, total: input.byteCount, isShown: showsProgress)
        defer { progress.finish() }
        var byteCount = 0
        do {
            try input.forEachChunk { chunk in
                try stopWhereAsked(after: 0, nil)
                digest.update(chunk)
                byteCount += chunk.count
                progress.show(comparedBytes: byteCount)
            }
        } catch is CommandFailure {
            // The import itself reports the problem with the file, and that it was stopped.
            return nil
        }
        return try jar.importedCapture(digest)
    }
}

extension CommandFailure {
    /// Someone has pressed Control-C.
    static func stopped(after byteCount: Int, _ place: CapturePlace?, _ consequence: String) -> CommandFailure {
        let place = place?.description ?? "the beginning"
        return CommandFailure(.interrupted, "stopped after \(byteCount) bytes, at \(place); \(consequence)")
    }
}

extension ImportReport.Failure {
    init(_ problem: CommandFailure, source: String) {
        self.init(code: problem.failure.code, message: problem.message, source: source)
    }
}
