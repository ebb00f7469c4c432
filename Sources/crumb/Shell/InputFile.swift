import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A file that the user named, or standard input for `-`, read in chunks.
struct InputFile {
    /// How errors and reports call it.
    let name: String
    private let path: String

    init(_ path: String) {
        self.path = path
        name = path == "-" ? "standard input" : path
    }

    /// Calls `body` with one chunk after the other, to the end of the file.
    func forEachChunk(_ body: (ArraySlice<UInt8>) throws -> Void) throws {
        let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw problem(errno) }
        defer { if descriptor != STDIN_FILENO { close(descriptor) } }
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                throw problem(errno)
            }
            guard count > 0 else { return }
            try body(buffer[0..<count])
        }
    }

    /// The whole file, refused with `status` where it is larger than `limit` bytes.
    func contents(limit: Int, refusal status: ExitStatus = .tokenInputInvalid) throws -> [UInt8] {
        var contents: [UInt8] = []
        try forEachChunk { chunk in
            guard contents.count + chunk.count <= limit else {
                throw Problem(status, "\(name): larger than \(limit) bytes")
            }
            contents += chunk
        }
        return contents
    }

    static func isWhiteSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte)
    }

    private func problem(_ failure: Int32) -> Problem {
        switch failure {
        case ENOENT: Problem(.inputNotFound, "\(name): there is no such file")
        case EISDIR: Problem(.inputIsFolder, "\(name): this is a folder; name the files in it")
        case EACCES, EPERM: Problem(.inputUnreadable, "\(name): you may not read this file; check its permissions")
        default: Problem(.inputUnreadable, "\(name): the file cannot be read: \(String(cString: strerror(failure)))")
        }
    }
}
