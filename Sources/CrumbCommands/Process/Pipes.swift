import Platform

/// The end of a pipe that is read.
struct PipeSink {
    let descriptor: Int32
    private(set) var isOpen = true
    private let consumer: ChildProcess.Consumer

    init(descriptor: Int32, consumer: @escaping ChildProcess.Consumer) {
        self.descriptor = descriptor
        self.consumer = consumer
    }

    /// Reads the available bytes, and closes the pipe at its end.
    mutating func read() throws {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while isOpen {
            let count = buffer.withUnsafeMutableBytes { buffer in
                retrying { Platform.read(descriptor, buffer.baseAddress, buffer.count) }
            }
            if count < 0, errno == EAGAIN { return }
            guard count > 0 else {
                isOpen = false
                close(descriptor)
                return
            }
            try consumer(Array(buffer[..<count]))
        }
    }
}

/// The end of a pipe that contents are written to.
struct PipeSource {
    let descriptor: Int32
    private(set) var isOpen = true
    private var rest: ArraySlice<UInt8>

    init(descriptor: Int32, contents: [UInt8]) {
        self.descriptor = descriptor
        rest = contents[...]
    }

    /// Writes as many bytes as the pipe accepts, and closes it after the last byte. A reader that has gone needs no
    /// more.
    mutating func write() {
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { buffer in
                retrying { Platform.write(descriptor, buffer.baseAddress, buffer.count) }
            }
            if count < 0 {
                if errno == EAGAIN { return }
                break
            }
            rest = rest.dropFirst(count)
        }
        rest = []
        isOpen = false
        close(descriptor)
    }
}
