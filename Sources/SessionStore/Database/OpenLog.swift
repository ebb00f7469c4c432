#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The write-ahead log that a connection has open, looked up in its folder: a transaction is too short to walk the whole
/// path once more.
final class OpenLog: Sendable {
    private let folder: Int32
    private let name: [CChar]
    private let identity: FileIdentity

    /// The log at `path`; `nil` where there is none.
    init?(_ path: UnsafePointer<CChar>) {
        let whole = Array(UnsafeBufferPointer(start: path, count: strlen(path) + 1))
        let end = (whole.lastIndex(of: 0x2F) ?? -1) + 1
        let opened = open(whole[..<end] + [0], O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        // A folder that may not be listed can still be walked through.
        folder = opened >= 0 ? opened : AT_FDCWD
        name = opened >= 0 ? Array(whole[end...]) : whole
        guard let identity = FileIdentity(name, in: folder) else {
            if opened >= 0 { close(opened) }
            return nil
        }
        self.identity = identity
    }

    deinit {
        if folder != AT_FDCWD { close(folder) }
    }

    /// Whether the log is still the one at its name in the folder.
    var isInPlace: Bool { FileIdentity(name, in: folder) == identity }
}
