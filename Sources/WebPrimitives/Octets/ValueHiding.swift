/// A value that holds a secret, such as a cookie's value, and does not show it: neither when it is printed, nor in `dump`,
/// nor in a debugger.
///
/// The secret is in a property of its own. A log gets it only if a program reads that property.
public protocol ValueHiding: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension ValueHiding {
    /// The same as `description`, since debugger output ends up in logs.
    public var debugDescription: String { description }

    /// Only `description`, so that `dump` shows no value.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
