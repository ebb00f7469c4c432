/// Why a part of a capture, or all of it, could not be read.
///
/// An error never contains a cookie's value, a field's value or a URL.
public struct CaptureError: Error, Sendable, Hashable, CustomStringConvertible {
    /// How much it matters.
    public enum Severity: Sendable, Hashable {
        /// Something was lost.
        case problem
        /// Nothing was lost: the capture holds something that nobody reads cookies from, or that its reader should know.
        case notice
    }

    /// What is wrong, as a stable identifier.
    public let code: Code
    /// How much it matters.
    public let severity: Severity
    /// How many cookies or Set-Cookie lines it stands for, as far as can be told.
    public let count: Int
    /// How many items of `localStorage` it stands for.
    package let storageItemCount: Int
    /// Where.
    public let place: CapturePlace
    /// One sentence or two: what is wrong, and what to do about it.
    public let message: String

    package init(
        _ code: Code, _ place: CapturePlace, _ message: String, _ severity: Severity = .problem, count: Int = 1,
        storageItemCount: Int = 0
    ) {
        self.storageItemCount = storageItemCount
        self.count = count
        self.code = code
        self.severity = severity
        self.place = place
        self.message = message
    }

    /// The place and the message.
    public var description: String { "\(place): \(message)" }
}
