import Foundation

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
                #if canImport(Darwin)
                    Darwin.read(descriptor, buffer.baseAddress, buffer.count)
                #elseif canImport(Musl)
                    Musl.read(descriptor, buffer.baseAddress, buffer.count)
                #else
                    Glibc.read(descriptor, buffer.baseAddress, buffer.count)
                #endif
            }
            if count < 0 {
                if errno == EINTR { continue }
                if errno == EAGAIN { return }
            }
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
                #if canImport(Darwin)
                    Darwin.write(descriptor, buffer.baseAddress, buffer.count)
                #elseif canImport(Musl)
                    Musl.write(descriptor, buffer.baseAddress, buffer.count)
                #else
                    Glibc.write(descriptor, buffer.baseAddress, buffer.count)
                #endif
            }
            if count < 0 {
                if errno == EINTR { continue }
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
