import Foundation

/// The end of a pipe that contents are written to.
struct PipeSource {
    let descriptor: Int32
    private(set) var isOpen = true
    private var rest: ArraySlice<UInt8>

    init(descriptor: Int32, contents: [UInt8]) {
        self.descriptor = descriptor
        rest = contents[...]
    }

    /// Writes what the pipe takes, and closes it behind the last byte. A reader that has gone needs no more.
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
