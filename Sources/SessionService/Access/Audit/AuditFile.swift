import Foundation
import SessionStore

/// The file of an audit log: JSON lines, its owner's alone, only ever added to.
struct AuditFile: ~Copyable {
    let path: String
    private var descriptor: Int32
    private let encoder: JSONEncoder

    /// Opens the file, making it where there is none.
    init(_ path: String) throws(ServiceStartError) {
        self.path = path
        encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        PrivateFile.createFolders(above: path)
        descriptor = PrivateFile.openForAppending(path)
        guard descriptor >= 0 else {
            throw ServiceStartError(
                .fileUnusable,
                "\(path): the audit log cannot be opened: \(PrivateFile.message(PrivateFile.lastFailure))")
        }
        guard PrivateFile.isPrivate(path) else {
            close(descriptor)
            throw ServiceStartError(.fileUnusable, "\(path): others can read this audit log; give it the mode 0600")
        }
    }

    deinit {
        fsync(descriptor)
        close(descriptor)
    }

    /// Goes on in a new file of the same name, where somebody has moved the old one away.
    ///
    /// - Returns: whether it does; it goes on in the old one where the new one cannot be opened or others can read it.
    mutating func reopen() -> Bool {
        let opened = PrivateFile.openForAppending(path)
        guard opened >= 0 else { return false }
        // Whoever moved the old one away may have put a new one there.
        guard PrivateFile.isPrivate(path) else {
            close(opened)
            return false
        }
        fsync(descriptor)
        close(descriptor)
        descriptor = opened
        return true
    }

    /// Adds whole lines.
    ///
    /// - Returns: how many of them are written: fewer than there are where the disk is full, and none in part.
    func append(_ entries: [AuditEntry]) -> Int {
        var written = 0
        for entry in entries {
            guard let line = try? encoder.encode(entry) else { continue }
            guard PrivateFile.append(Array(line) + [UInt8(ascii: "\n")], to: descriptor) else { return written }
            written += 1
        }
        return written
    }
}
