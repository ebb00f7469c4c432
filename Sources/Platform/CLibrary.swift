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
