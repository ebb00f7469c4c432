import Platform
internal import StoreEngine
internal import Synchronization

/// Where the files of an open database lie, all in one folder, and whether each of them is still there.
///
/// Resolving both paths takes a noticeable part of a short transaction, and most of a lookup in memory. Deleting,
/// moving or replacing a file changes the folder's modification time, and so does moving the folder. So an unchanged
/// time means unchanged files. A change to a folder further up is noticed when the paths are resolved next, at most a
/// tenth of a second later.
package final class FilePlaces: Sendable {
    /// How long the result of resolving the paths is valid, in nanoseconds.
    private static let walkInterval: Int64 = 100_000_000
    /// An upper bound for the resolution of modification times, in nanoseconds: two changes within one step look like
    /// one.
    private static let coarsestStep: Int64 = 50_000_000

    /// A source of the time.
    package struct Clock: Sendable {
        /// A clock that is never set back, and is very cheap to read.
        #if canImport(Darwin)
            static let steady = CLOCK_MONOTONIC_RAW_APPROX
        #else
            static let steady = CLOCK_MONOTONIC_COARSE
        #endif

        /// How far the clock is ahead of the system's, in nanoseconds; `nil` for the system's own.
        private let lead: (@Sendable () -> Int64)?

        package init(lead: (@Sendable () -> Int64)? = nil) {
            self.lead = lead
        }

        /// The time that a clock of the system tells, in nanoseconds.
        func time(_ clock: clockid_t) -> Int64 {
            var time = timespec()
            clock_gettime(clock, &time)
            guard let lead else { return FilePlaces.nanoseconds(time) }
            return FilePlaces.nanoseconds(time) + lead()
        }
    }

    private let clock: Clock
    private let files: [(location: [CChar], identity: FileIdentity)]
    /// The folder; -1 if it can be traversed but not opened.
    private let folder: Int32
    /// The folder's modification time when all files were found at their paths, in nanoseconds; 0 if a later change
    /// could have the same time.
    private let knownChange = Atomic<Int64>(0)
    /// Until when that result is valid.
    private let deadline = Atomic<Int64>(0)

    /// Remembers the files that are at `locations` now. A location without a file is not checked.
    ///
    /// - Parameters:
    ///   - locations: absolute paths within one folder, without symbolic links.
    ///   - clock: what tells the time.
    init(_ locations: [[CChar]], clock: Clock = Clock()) {
        self.clock = clock
        files = locations.compactMap { location in FileIdentity(location).map { (location, $0) } }
        let end = files.first?.location.lastIndex(of: 0x2F) ?? 0
        folder = files.first.map { open($0.location[..<end] + [0x2F, 0], O_RDONLY | O_DIRECTORY | O_CLOEXEC) } ?? -1
    }

    deinit {
        if folder >= 0 { close(folder) }
    }

    /// Whether each file is still at its path.
    var areKept: Bool {
        guard let change = lastChange else { return areFound }
        let now = clock.time(Clock.steady)
        if change == knownChange.load(ordering: .relaxed), now < deadline.load(ordering: .relaxed) { return true }
        // Read before the paths are resolved: the next call must notice what happens meanwhile.
        let isSettled = clock.time(CLOCK_REALTIME) - change > Self.coarsestStep
        guard areFound else { return false }
        knownChange.store(isSettled ? change : 0, ordering: .relaxed)
        deadline.store(now + Self.walkInterval, ordering: .relaxed)
        return true
    }

    /// Whether each path leads to its file now.
    var areFound: Bool {
        if files.allSatisfy({ FileIdentity($0.location) == $0.identity }) { return true }
        // Later callers must get the same answer.
        knownChange.store(0, ordering: .relaxed)
        return false
    }

    /// When the folder last changed, in nanoseconds; `nil` if that is unknown.
    private var lastChange: Int64? {
        var status = stat()
        guard folder >= 0, fstat(folder, &status) == 0 else { return nil }
        #if canImport(Darwin)
            return Self.nanoseconds(status.st_ctimespec)
        #else
            return Self.nanoseconds(status.st_ctim)
        #endif
    }

    fileprivate static func nanoseconds(_ time: timespec) -> Int64 {
        Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}
