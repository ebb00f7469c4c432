// The platform's C library, for every file of this module. Its globals, such as `environ`, predate concurrency checking.
#if canImport(Glibc)
    @_exported @preconcurrency import Glibc
#elseif canImport(Musl)
    @_exported @preconcurrency import Musl
#elseif canImport(Darwin)
    @_exported @preconcurrency import Darwin
#endif
