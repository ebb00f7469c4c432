import Captures
import Platform
import SessionOperations

/// A file that the user named, or standard input for `-`, read in chunks.
final class InputFile {
    /// How errors and reports call it.
    let name: String
    private let path: String
    /// The bytes read ahead from an input that cannot be read twice.
    private var beginning: [UInt8] = []
    /// Whether nothing comes after that.
    private var isReadWhole = false
    /// Where reading goes on otherwise.
    private var descriptor: Int32?
    private lazy var buffer = [UInt8](repeating: 0, count: 1 << 18)
    /// Gives the messages of a packet capture, in place of the file's bytes.
    private var packets: PacketCapture?

    init(_ path: String) {
        self.path = path
        name = path == "-" ? "standard input" : path
    }

    /// A capture, which may be one of packets.
    ///
    /// - Parameter tlsKeys: the path of the TLS key log of a packet capture.
    convenience init(capture path: String, tlsKeys: String?) {
        self.init(path)
        // A pipe is not looked into, since that would take its first bytes.
        guard byteCount != nil, let beginning = try? InputFile(path).nextChunk() else { return }
        if CaptureFormat.isPacketCapture(beginning.span) { packets = PacketCapture(path: path, keys: tlsKeys) }
    }

    /// The format of the input, if the kind of file determines it.
    var format: CaptureFormat? { packets == nil ? nil : .tsharkJSON }

    deinit {
        if let descriptor { InputFile.finish(descriptor) }
    }

    /// Makes sure that the input can be read twice: a pipe that ends within `limit` bytes is kept in memory.
    ///
    /// - Returns: whether it can; if not, the next reading still gets all of it.
    func becomesRepeatable(within limit: Int) throws -> Bool {
        // It would take tshark's time twice.
        if packets != nil { return false }
        let descriptor = try opened()
        if path != "-", FileSystem.isRegular(path) {
            InputFile.finish(descriptor)
            return true
        }
        self.descriptor = descriptor
        while beginning.count <= limit, !isReadWhole {
            isReadWhole = try !readChunk(descriptor) { beginning += $0 }
        }
        return isReadWhole
    }

    /// How many bytes there are to read; `nil` if that is not known, as of a pipe.
    var byteCount: Int? {
        guard packets == nil, path != "-", FileSystem.isRegular(path) else { return nil }
        return FileSystem.size(path).map { Int($0) }
    }

    /// The folder that a path names a file of.
    static func folder(of path: String) -> String {
        let end = path.lastIndex { $0 != "/" } ?? path.startIndex
        return path.isEmpty ? "." : FileSystem.folder(of: String(path[...end]))
    }

    /// The folder of the profile whose session Firefox keeps in this file; `nil` for any other file.
    var firefoxProfile: String? {
        guard path.hasSuffix(".jsonlz4") else { return nil }
        let folder = InputFile.folder(of: path)
        return FileSystem.name(of: folder) == "sessionstore-backups" ? InputFile.folder(of: folder) : folder
    }

    /// The path of a database of SQLite's; `nil` for any other file.
    func databasePath() throws -> String? {
        guard byteCount != nil else { return nil }
        let descriptor = try opened()
        defer { InputFile.finish(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
        return count == 16 && bytes == Array("SQLite format 3\0".utf8) ? path : nil
    }

    /// Calls `body` with one chunk after the other, to the end of the file.
    func forEachChunk(_ body: (ArraySlice<UInt8>) throws -> Void) throws {
        if let packets {
            while let chunk = try packets.nextChunk() { try body(chunk[...]) }
            return
        }
        if !beginning.isEmpty { try body(beginning[...]) }
        guard !isReadWhole else { return }
        beginning = []
        let descriptor = try descriptor ?? opened()
        self.descriptor = nil
        defer { InputFile.finish(descriptor) }
        while try readChunk(descriptor, body) {}
    }

    /// The next chunk, for callers that read in steps; `nil` at the end.
    func nextChunk() throws -> [UInt8]? {
        if let packets { return try packets.nextChunk() }
        if !beginning.isEmpty {
            defer { beginning = [] }
            return beginning
        }
        guard !isReadWhole else { return nil }
        let descriptor = try descriptor ?? opened()
        self.descriptor = descriptor
        var chunk: [UInt8]?
        isReadWhole = try !readChunk(descriptor) { chunk = Array($0) }
        return chunk
    }

    /// Whether there was one more chunk.
    private func readChunk(_ descriptor: Int32, _ body: (ArraySlice<UInt8>) throws -> Void) throws -> Bool {
        let count = buffer.withUnsafeMutableBytes { bytes in
            retrying(while: { !Interruption.isRequested }) { read(descriptor, bytes.baseAddress, bytes.count) }
        }
        guard count >= 0 else {
            if errno == EINTR { return false }
            throw problem(errno)
        }
        if count > 0 { try body(buffer[0..<count]) }
        return count > 0
    }

    private func opened() throws -> Int32 {
        let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw problem(errno) }
        return descriptor
    }

    private static func finish(_ descriptor: Int32) {
        if descriptor != STDIN_FILENO { close(descriptor) }
    }

    /// The whole file, rejected with the status given if it is larger than `limit` bytes.
    func contents(limit: Int, otherwise status: FailureKind = .tokenInputInvalid) throws -> [UInt8] {
        var contents: [UInt8] = []
        try forEachChunk { chunk in
            guard contents.count + chunk.count <= limit else {
                throw CommandFailure(status, "\(name): larger than \(limit) bytes")
            }
            contents += chunk
        }
        return contents
    }

    static func isWhiteSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte)
    }

    private func problem(_ failure: Int32) -> CommandFailure {
        switch failure {
        case ENOENT: CommandFailure(.inputNotFound, "\(name): no such file")
        case EISDIR: CommandFailure(.inputIsFolder, "\(name): this is a folder; name the files in it")
        case EACCES, EPERM:
            CommandFailure(.inputUnreadable, "\(name): you cannot read this file; check its permissions")
        default: CommandFailure(.inputUnreadable, "\(name): the file cannot be read: \(SystemError(failure).message)")
        }
    }
}
