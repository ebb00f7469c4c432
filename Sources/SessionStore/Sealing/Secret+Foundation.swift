internal import Foundation
package import OAuth2

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

extension Secret {
    /// A secret in an environment variable, which is overwritten where it lies and taken out of the environment: children
    /// inherit that, and others of the same user can read it. Call this before other threads look at it.
    ///
    /// - Returns: `nil` where the variable is not set, or is empty.
    package init?(takingEnvironment variable: String) {
        guard let pointer = getenv(variable) else { return nil }
        let count = strlen(pointer)
        self.init(UnsafeRawBufferPointer(start: pointer, count: count))
        memset(pointer, 0x78, count)
        unsetenv(variable)
        if isEmpty { return nil }
    }
}
