import Glibc

/// A text file, read line by line without holding all of it.
public struct LineFile {
    /// Where it is.
    public let path: String

    /// The file at `path`.
    public init(_ path: String) {
        self.path = path
    }

    /// Runs `body` on each line, without its line feed; the bytes are good only during the call.
    public func forEach(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        guard let file = fopen(path, "r") else { throw DriverError.unreadable(path) }
        defer { fclose(file) }
        var buffer: UnsafeMutablePointer<CChar>?
        defer { free(buffer) }
        var capacity = 0
        while true {
            let length = getline(&buffer, &capacity, file)
            guard length > 0, let buffer else { return }
            let isEnded = buffer[length - 1] == 0x0A
            try body(UnsafeRawBufferPointer(start: buffer, count: isEnded ? length - 1 : length))
        }
    }

    /// Runs `body` on the two parts of each line that a tab divides: a URL and a Set-Cookie field value.
    public func forEachPair(_ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Void) throws {
        try forEach { line in
            guard let tab = line.firstIndex(of: 0x09) else { return }
            try body(
                UnsafeRawBufferPointer(rebasing: line[..<tab]), UnsafeRawBufferPointer(rebasing: line[(tab + 1)...]))
        }
    }
}
