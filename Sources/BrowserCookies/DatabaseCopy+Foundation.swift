import Captures
import Platform

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A private copy of a database with its write-ahead log or its rollback journal, consistent at one time.
///
/// The files are copied and checked: if one has changed in between, all are copied again. So there is no lock that
/// could block the browser. A journal that is copied in the middle of a transaction, or that a killed browser has left,
/// rolls the copy back to the state before. The index of a log is not copied, because SQLite rebuilds it.
struct DatabaseCopy {
    /// Some two seconds.
    private static let attemptLimit = 50
    /// More than any browser's cookies take.
    private static let byteLimit: UInt64 = 4 << 30
    /// How coarse the times of files may be, in seconds: of two writes within that, the second may leave no trace.
    private static let timeGrain = 0.011
    /// The endings of the files that belong together.
    private static let endings = ["", "-wal", "-journal"]

    /// The copy's path.
    let path: String
    private let folder: String

    init(of original: String, source: String) throws(CaptureError) {
        let place = CapturePlace(source: source)
        folder = FileManager.default.temporaryDirectory.appending(path: "crumb-\(UUID().uuidString)").path
        path = "\(folder)/cookies.sqlite"
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        } catch {
            throw CaptureError(.databaseNotCopied, at: place)
        }
        do throws(CaptureError) {
            try copy(original, at: place)
        } catch {
            remove()
            throw error
        }
    }

    /// Removes the copy.
    func remove() {
        try? FileManager.default.removeItem(atPath: folder)
    }

    private func copy(_ original: String, at place: CapturePlace) throws(CaptureError) {
        for attempt in 0..<Self.attemptLimit {
            // A browser writes in bursts, and with short pauses.
            if attempt > 0 { usleep(min(5_000 * UInt32(attempt), 50_000)) }
            let before = Self.endings.map { FileState("\(original)\($0)") }
            guard before[0] != nil else { throw CaptureError(.databaseNotReadable, at: place) }
            let size = before.reduce(0) { $0 + ($1?.size ?? 0) }
            guard size <= Self.byteLimit else { throw CaptureError(.databaseTooLarge, at: place) }
            let now = Date()
            guard !before.contains(where: { $0?.isFresh(at: now, within: Self.timeGrain) ?? false }) else { continue }
            let isCopied = zip(Self.endings, before).allSatisfy { ending, state in
                let copy = "\(path)\(ending)"
                return state == nil ? removeFile(copy) : copyFile("\(original)\(ending)", to: copy)
            }
            guard before == Self.endings.map({ FileState("\(original)\($0)") }) else { continue }
            guard isCopied else { throw CaptureError(.databaseNotReadable, at: place) }
            return
        }
        throw CaptureError(.databaseUnstable, at: place)
    }

    private struct FileState: Equatable {
        let size: UInt64
        /// Seconds since 1970.
        let modified: TimeInterval
        let number: UInt64

        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            #if canImport(Darwin)
                let time = status.st_mtimespec
            #else
                let time = status.st_mtim
            #endif
            size = UInt64(status.st_size)
            modified = TimeInterval(time.tv_sec) + TimeInterval(time.tv_nsec) / 1e9
            number = UInt64(status.st_ino)
        }

        /// Whether the file was written just now.
        func isFresh(at now: Date, within grain: TimeInterval) -> Bool {
            abs(now.timeIntervalSince1970 - modified) < grain
        }
    }

    /// Removes the file of an earlier attempt.
    private func removeFile(_ path: String) -> Bool {
        try? FileManager.default.removeItem(atPath: path)
        return true
    }

    /// Copies the bytes into a file that no one else may read, from its first byte on.
    private func copyFile(_ original: String, to copy: String) -> Bool {
        try? FileManager.default.removeItem(atPath: copy)
        guard let input = try? Descriptor(opening: original, O_RDONLY) else { return false }
        defer { input.close() }
        guard let output = try? Descriptor(opening: copy, O_WRONLY | O_CREAT | O_EXCL) else { return false }
        defer { output.close() }
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        do throws(SystemError) {
            while true {
                let count = try input.read(into: &buffer)
                if count == 0 { return true }
                try output.write(count == buffer.count ? buffer : Array(buffer[..<count]))
            }
        } catch {
            return false
        }
    }
}
