/// Why a driver cannot do what it is asked for.
public enum DriverError: Error, CustomStringConvertible {
    /// A file cannot be opened.
    case unreadable(String)
    /// The peer cannot do this subject at this size, for the reason given.
    case skipped(String)
    /// The command line makes no sense.
    case usage(String)

    /// One sentence.
    public var description: String {
        switch self {
        case .unreadable(let path): "\(path) cannot be opened"
        case .skipped(let reason): reason
        case .usage(let text): text
        }
    }
}
