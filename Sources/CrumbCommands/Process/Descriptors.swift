import Platform
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The end of a pipe that is read.
struct PipeSink {
    let descriptor: Int32
    private(set) var isOpen = true
    let consumer: ChildProcess.Consumer

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
    /// The contents that are left.
    private(set) var rest: ArraySlice<UInt8>

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

/// The descriptors that this process was started with, such as those of a shell's `<(…)`.
///
/// The programs that crumb starts get them, and none of crumb's own: with the socket of a gateway, they would hold its
/// port after its end.
enum InheritedDescriptors {
    /// Their numbers, but for the three standard streams.
    static let numbers = Set(open().filter { fcntl($0, F_GETFD) & FD_CLOEXEC == 0 })

    /// Takes note of them. Call it before anything is opened.
    static func begin() {
        _ = numbers
    }

    /// Lets a program that takes the place of this one, or is started now, have no others.
    ///
    /// - Returns: The numbers that a program that is started now may close: other threads open sockets at any moment, and
    ///   those get the lowest numbers that are free.
    @discardableResult
    static func closeOthersOnExecution() -> Range<Int32> {
        let opened = open()
        for number in opened where !numbers.contains(number) { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
        let end = min((opened.max() ?? STDERR_FILENO) + 65, Int32(clamping: DescriptorLimit.ofPrograms))
        return STDERR_FILENO + 1..<max(end, STDERR_FILENO + 1)
    }

    private static func open() -> [Int32] {
        let names = (try? FileSystem.allNames(in: "/dev/fd")) ?? (0..<1024).map(String.init)
        return names.compactMap(Int32.init).filter { $0 > STDERR_FILENO && fcntl($0, F_GETFD) >= 0 }
    }
}
