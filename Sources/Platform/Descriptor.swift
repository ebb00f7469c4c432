/// A failure that the system reports: an `errno`.
package struct SystemError: Error, Equatable {
    package let number: Int32

    package init(_ number: Int32) {
        self.number = number
    }

    /// The last failure of a call on this thread.
    package static var last: SystemError { SystemError(errno) }

    /// The system's message.
    package var message: String { String(cString: strerror(number)) }
}

/// Repeats a call of the system if a signal has interrupted it.
///
/// - Parameter goesOn: Whether to repeat the call.
/// - Returns: The result of the last call. If it is negative, `errno` has the reason.
@inlinable
package func retrying<Result: FixedWidthInteger>(
    while goesOn: () -> Bool = { true }, _ call: () -> Result
) -> Result {
    while true {
        let result = call()
        guard result < 0, errno == EINTR, goesOn() else { return result }
    }
}

/// An open file. Its owner closes it.
///
/// No reading or writing fails because a signal interrupts it.
package struct Descriptor: Sendable, Equatable {
    package static let standardOutput = Descriptor(STDOUT_FILENO)
    package static let standardError = Descriptor(STDERR_FILENO)

    package let number: Int32

    package init(_ number: Int32) {
        self.number = number
    }

    /// Opens a file, which programs that are started do not inherit. A signal ends the wait for the other end of a pipe.
    ///
    /// - Parameter flags: Those of `open(2)`. With `O_CREAT`, a new file is readable only by its owner.
    package init(opening path: String, _ flags: Int32) throws(SystemError) {
        number = open(path, flags | O_CLOEXEC, 0o600)
        guard number >= 0 else { throw .last }
    }

    /// Closes the file.
    package func close() {
        Platform.close(number)
    }

    /// Waits until the disk has the file.
    package func synchronize() throws(SystemError) {
        guard retrying({ fsync(number) }) == 0 else { throw .last }
    }

    // MARK: - Reading

    /// Reads the next bytes into the beginning of `buffer`.
    ///
    /// - Returns: How many there were; 0 at the end of the file.
    package func read(into buffer: inout [UInt8]) throws(SystemError) -> Int {
        let count = buffer.withUnsafeMutableBytes { bytes in
            retrying { Platform.read(number, bytes.baseAddress, bytes.count) }
        }
        guard count >= 0 else { throw .last }
        return count
    }

    /// Reads up to the end of the file, or `limit` bytes.
    package func readAll(limit: Int = .max) throws(SystemError) -> [UInt8] {
        var contents: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 14)
        while contents.count < limit {
            if limit - contents.count < buffer.count { buffer.removeLast(buffer.count - (limit - contents.count)) }
            let count = try read(into: &buffer)
            if count == 0 { break }
            contents += buffer[..<count]
        }
        return contents
    }

    /// Reads bytes from a position in the file; fewer than `count` at its end.
    ///
    /// - Parameter beginning: Bytes to put before them.
    package func read(
        _ count: Int, at position: Int64, after beginning: [UInt8] = []
    ) throws(SystemError) -> [UInt8] {
        var length = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: beginning.count + count) { buffer, initialized in
            let (_, start) = buffer.initialize(from: beginning)
            length = retrying { pread(number, buffer.baseAddress.map { $0 + start }, count, off_t(position)) }
            initialized = start + max(0, length)
        }
        guard length >= 0 else { throw .last }
        return bytes
    }

    // MARK: - Writing

    /// Writes all bytes.
    package func write(_ bytes: [UInt8]) throws(SystemError) {
        var written = 0
        try write(bytes, &written) { start, count, _ in Platform.write(number, start, count) }
    }

    /// Writes all bytes to a position in the file.
    package func write(_ bytes: [UInt8], at position: Int64) throws(SystemError) {
        var written = 0
        try write(bytes, &written) { pwrite(number, $0, $1, off_t(position) + off_t($2)) }
    }

    /// Adds bytes to the end of a file that is open for that: all of them, or none.
    package func append(_ bytes: [UInt8]) throws(SystemError) {
        var status = stat()
        guard fstat(number, &status) == 0 else { throw .last }
        var written = 0
        do throws(SystemError) {
            try write(bytes, &written) { start, count, _ in Platform.write(number, start, count) }
        } catch {
            if written > 0 { ftruncate(number, status.st_size) }
            throw error
        }
    }

    /// Calls `write` until all bytes are written.
    ///
    /// - Parameters:
    ///   - written: How many are.
    ///   - write: Gets the bytes that are left, their number, and how many are written.
    private func write(
        _ bytes: [UInt8], _ written: inout Int, with write: (UnsafeRawPointer?, Int, Int) -> Int
    ) throws(SystemError) {
        while written < bytes.count {
            let start = written
            let count = bytes.withUnsafeBytes { buffer in
                retrying { write(buffer.baseAddress.map { $0 + start }, buffer.count - start, start) }
            }
            guard count > 0 else { throw count < 0 ? .last : SystemError(EIO) }
            written += count
        }
    }
}
