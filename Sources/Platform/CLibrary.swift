// The platform's C library, for every file that imports this module. Its globals, such as `environ`, predate concurrency
// checking.
#if canImport(Darwin)
    @_exported @preconcurrency public import Darwin
#elseif canImport(Musl)
    @_exported @preconcurrency public import Musl
#else
    @_exported @preconcurrency public import Glibc
#endif

/// The kinds of sockets, as `socket(2)` takes them. Their type differs between the C libraries.
package enum SocketKind {
    #if canImport(Glibc)
        package static let stream = Int32(SOCK_STREAM.rawValue)
        package static let datagram = Int32(SOCK_DGRAM.rawValue)
    #else
        package static let stream = SOCK_STREAM
        package static let datagram = SOCK_DGRAM
    #endif
}

/// The environment of the process.
package enum ProcessEnvironment {
    /// The values by the names of their variables.
    package static var variables: [String: String] {
        var variables: [String: String] = [:]
        var entry: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> = environ
        while let text = entry.pointee {
            let parts = String(cString: text).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
            entry += 1
        }
        return variables
    }
}
