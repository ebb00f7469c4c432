import Foundation

/// The end of a pipe that contents are written to.
struct PipeSource {
    /// Gives the next bytes; `nil` at the end.
    typealias Producer = () throws -> [UInt8]?

    let descriptor: Int32
    private(set) var isOpen = true
    private var rest: ArraySlice<UInt8>
    private let next: Producer

    init(descriptor: Int32, contents: [UInt8], next: @escaping Producer = { nil }) {
        self.descriptor = descriptor
        self.next = next
        rest = contents[...]
    }

    /// Writes what the pipe takes, and closes it behind the last byte. A reader that has gone needs no more.
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
        isOpen = false
        close(descriptor)
    }
}
