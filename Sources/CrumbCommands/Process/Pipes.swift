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

    /// Reads what is there, and closes the pipe at its end.
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
    /// Gives the next bytes; `nil` at the end.
    typealias Producer = () throws -> [UInt8]?

    let descriptor: Int32
    private(set) var isOpen = true
    /// Whether there may be more to write.
    private(set) var isWriting = true
    private var rest: ArraySlice<UInt8>
    private let next: Producer
    private let staysOpen: Bool

    /// - Parameter staysOpen: whether the pipe stays open behind the last byte, for the reader to see its end when this
    ///   program's comes.
    init(descriptor: Int32, contents: [UInt8], staysOpen: Bool = false, next: @escaping Producer = { nil }) {
        self.descriptor = descriptor
        self.next = next
        self.staysOpen = staysOpen
        rest = contents[...]
    }

    /// Writes what the pipe takes, and closes it behind the last byte unless it is to stay open. A reader that has gone
    /// needs no more.
    mutating func write() throws {
        while true {
            if rest.isEmpty {
                guard let bytes = try next() else { break }
                rest = bytes[...]
                continue
            }
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
        isWriting = false
        guard !staysOpen else { return }
        isOpen = false
        close(descriptor)
    }
}
