/// Bytes or text that must not be shown by accident: tokens, client secrets, keys.
///
/// Printing, interpolating, reflecting or dumping a secret, alone or inside other values and errors, gives
/// `<redacted>`. It is not `Encodable`, so a value that holds one cannot be encoded by accident either. The bytes are
/// reached only through members whose name begins with `exposed` or `withExposed`. Search for these to find all code
/// that can see them.
///
/// The bytes live in one allocation, shared by all copies of the value, that is zeroed when the last copy goes. That is
/// a best effort: it does not cover values from which a secret was made, or values made from it.
///
/// ```swift
/// let token = Secret("2YotnFZFEjr1zCsicMWpAA")
/// print(token)                      // <redacted>
/// token.withExposed { $0.count }    // 22
/// ```
public struct Secret: Sendable {
    private let storage: SecretStorage

    /// A secret with a copy of `bytes`.
    public init(_ bytes: some Collection<UInt8>) {
        storage = SecretStorage(copying: bytes)
    }

    /// A secret with the UTF-8 bytes of `text`.
    public init(_ text: some StringProtocol) {
        self.init(text.utf8)
    }

    /// Whether there are no bytes at all.
    package var isEmpty: Bool { storage.count == 0 }

    /// Runs `body` on the bytes in place, without a copy.
    public func withExposed<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try storage.withSpan(body)
    }

    /// A copy of the bytes, which is no longer protected.
    public var exposedBytes: [UInt8] {
        withExposed { span in
            span.withUnsafeBufferPointer { Array($0) }
        }
    }

    /// A copy of the bytes as text, which is no longer protected; `nil` if they are not UTF-8.
    public var exposedText: String? {
        withExposed { span in
            span.withUnsafeBufferPointer { String(validating: $0, as: UTF8.self) }
        }
    }
}

extension Secret: Equatable {
    /// Whether both hold the same bytes, in a time that depends on their number only.
    public static func == (left: Secret, right: Secret) -> Bool {
        left.withExposed { leftBytes in
            right.withExposed { rightBytes in
                guard leftBytes.count == rightBytes.count else { return false }
                var difference: UInt8 = 0
                for position in leftBytes.indices {
                    difference |= leftBytes[position] ^ rightBytes[position]
                }
                return difference == 0
            }
        }
    }
}

/// The bytes of a ``Secret``: one allocation that is never moved or copied, and is zeroed before it is freed.
final class SecretStorage: Sendable {
    // Written in `init` and `wipe` only, read in between: no two threads can meet here.
    nonisolated(unsafe) private let buffer: UnsafeMutableBufferPointer<UInt8>

    init(copying bytes: some Collection<UInt8>) {
        buffer = .allocate(capacity: bytes.count)
        _ = buffer.initialize(fromContentsOf: bytes)
    }

    deinit {
        wipe()
        buffer.deallocate()
    }

    var count: Int { buffer.count }

    func withSpan<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeBufferPointer(buffer).span)
    }

    /// Overwrites the bytes with zeros.
    ///
    /// Kept out of line, so that the optimizer does not see the stores and the end of the memory's life together and
    /// drop the stores as dead.
    @inline(never)
    func wipe() {
        buffer.update(repeating: 0)
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible {
    /// The text shown in place of a secret.
    static let redacted = "<redacted>"

    /// `<redacted>`, whatever the bytes are.
    public var description: String { Secret.redacted }

    /// `<redacted>`, whatever the bytes are.
    public var debugDescription: String { Secret.redacted }
}

extension Secret: CustomReflectable, CustomPlaygroundDisplayConvertible {
    /// A mirror without children, so that `dump` and other walks through a value's fields end here.
    public var customMirror: Mirror {
        Mirror(self, children: [], displayStyle: .struct, ancestorRepresentation: .suppressed)
    }

    /// `<redacted>`, whatever the bytes are.
    public var playgroundDescription: Any { Secret.redacted }
}
