import Platform
import Synchronization

/// How many descriptors this process may have open at once.
package enum DescriptorLimit {
    /// The limit that this process was started with; `nil` if it was not raised.
    private static let original = Mutex<rlimit?>(nil)

    /// The highest limit that is asked for. Some systems permit a billion.
    private static let most: rlim_t = 1 << 20

    /// Raises it as far as the system permits: each connection takes a descriptor or two, and the usual limit is 1024.
    package static func raise() {
        original.withLock { original in
            guard original == nil, let limit = current() else { return }
            #if canImport(Darwin)
                let highest = rlim_t(OPEN_MAX)
            #else
                let highest = most
            #endif
            let wanted = min(limit.rlim_max, max(limit.rlim_cur, highest))
            guard wanted > limit.rlim_cur, set(rlimit(rlim_cur: wanted, rlim_max: limit.rlim_max)) else { return }
            original = limit
        }
    }

    /// Runs `body` under the limit that this process was started with, for the start of a program: programs that use
    /// `select(2)` take no more than 1024 descriptors.
    static func withOriginal<Value>(_ body: () throws -> Value) rethrows -> Value {
        try original.withLock { original in
            guard let original, let raised = current() else { return try body() }
            _ = set(rlimit(rlim_cur: original.rlim_cur, rlim_max: raised.rlim_max))
            defer { _ = set(raised) }
            return try body()
        }
    }

    /// The limit of the programs that this process starts.
    static var ofPrograms: UInt64 {
        original.withLock { ($0 ?? current()).map { UInt64($0.rlim_cur) } ?? 1024 }
    }

    #if canImport(Glibc)
        private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        private static let resource = RLIMIT_NOFILE
    #endif

    private static func current() -> rlimit? {
        var limit = rlimit()
        return getrlimit(resource, &limit) == 0 ? limit : nil
    }

    private static func set(_ limit: rlimit) -> Bool {
        var limit = limit
        return setrlimit(resource, &limit) == 0
    }
}
