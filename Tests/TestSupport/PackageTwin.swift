/// What the packages of a jar must be after some changes, as plainly as can be: versions are numbers.
public struct PackageTwin: Sendable {
    /// A package, also one that was removed and can come back.
    public struct Package: Sendable, Equatable {
        /// The version that answers.
        public var current: Int
        /// The one that a rollback brings back.
        public var previous: Int?
        /// When it was removed, in seconds.
        public var removed: Int64?
    }

    /// Why a change changes nothing.
    public enum Refusal: Sendable, Equatable {
        case outdated, notFound
    }

    /// The packages by name.
    public private(set) var packages: [String: Package] = [:]

    /// A jar without packages.
    public init() {}

    /// Adds a version.
    public mutating func add(_ version: Int, to name: String, isForced: Bool, now: Int64) -> Refusal? {
        var old = packages[name]
        if old?.removed != nil { old = nil }
        if let old, !isForced, version <= old.current { return .outdated }
        packages[name] = Package(current: version, previous: old?.current)
        return end(now)
    }

    /// Brings back the version before, or a removed package.
    public mutating func rollBack(_ name: String, now: Int64) -> Refusal? {
        guard var package = packages[name] else { return .notFound }
        if package.removed != nil {
            package.removed = nil
        } else {
            guard let previous = package.previous else { return .notFound }
            package = Package(current: previous, previous: package.current)
        }
        packages[name] = package
        return end(now)
    }

    /// Removes a package.
    public mutating func remove(_ name: String, now: Int64) -> Refusal? {
        guard packages[name] != nil, packages[name]?.removed == nil else { return .notFound }
        packages[name]?.removed = now
        return end(now)
    }

    /// Every change ends with this: what was removed more than a day ago is gone.
    private mutating func end(_ now: Int64) -> Refusal? {
        packages = packages.filter { $0.value.removed.map { now - $0 <= 86_400 } ?? true }
        return nil
    }
}
