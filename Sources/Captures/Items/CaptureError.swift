/// Why a part of a capture, or all of it, could not be read.
///
/// An error never contains a cookie's value, a field's value or a URL.
public struct CaptureError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, as a stable identifier.
    public let code: Code
    /// Where.
    public let place: CapturePlace
    /// One sentence or two: what is wrong, and what to do about it.
    public let message: String

    init(_ code: Code, _ place: CapturePlace, _ message: String) {
        self.code = code
        self.place = place
        self.message = message
    }

    /// The place and the message.
    public var description: String { "\(place): \(message)" }
}
