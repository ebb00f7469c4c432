/// Something that a check of a database found.
public struct DatabaseFinding: Sendable, Hashable {
    /// A stable identifier of a kind of finding.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The identifier as it is printed.
        public let rawValue: String

        /// A code from its identifier.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// SQLite finds the file's structure damaged.
        public static let structure = Code(rawValue: "structure")
        /// A row belongs to a jar or saved session that is not there.
        public static let orphan = Code(rawValue: "orphan")
        /// A sealed value was changed, moved or cut off.
        public static let unreadable = Code(rawValue: "unreadable")
        /// A file or folder is open to other users.
        public static let exposed = Code(rawValue: "exposed")
        /// A rotation of the key was interrupted.
        public static let rotationUnfinished = Code(rawValue: "rotation-unfinished")
        /// A file was left behind by a process that was killed.
        public static let leftover = Code(rawValue: "leftover")
        /// The write-ahead log is large.
        public static let largeLog = Code(rawValue: "large-log")
    }

    /// What kind it is.
    public let code: Code
    /// Whether something is wrong; otherwise it is good to know.
    public let isProblem: Bool
    /// The file, table or value concerned.
    public let subject: String
    /// What was found and what to do, as part of a sentence.
    let detail: String
    /// The value concerned, where it is one.
    public let location: SealedValueLocation?

    init(
        _ code: Code, isProblem: Bool = true, _ subject: String, _ detail: String, location: SealedValueLocation? = nil
    ) {
        self.code = code
        self.isProblem = isProblem
        self.subject = subject
        self.detail = detail
        self.location = location
    }

    /// One sentence that names the subject and what to do. Never holds a value.
    public var description: String { "\(subject): \(detail)" }
}
