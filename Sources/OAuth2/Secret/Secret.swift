/// Bytes or text that must not appear where nobody asked for it: tokens, client secrets, keys.
///
/// Printing, interpolating, reflecting or dumping a secret, alone or inside other values and errors, gives
/// `<redacted>`. It is not `Encodable`, so a value that holds one cannot be encoded by accident either. The bytes are
/// reached only through members whose name begins with `exposed` or `withExposed`, which is what to search for when
/// one asks who can see them.
///
/// The bytes live in one allocation, shared by all copies of the value, that is zeroed when the last copy goes. That
/// is a best effort: what a secret was made from, and what was made from it, is out of its reach.
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
    public var isEmpty: Bool { storage.count == 0 }

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

    /// A copy of the bytes as text, which is no longer protected; `nil` where they are not UTF-8.
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
