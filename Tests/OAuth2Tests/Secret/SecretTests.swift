import Testing

@testable import OAuth2

@Suite("Secret")
struct SecretTests {
    @Test("A secret returns its bytes and its text", arguments: ["", "token", "pässwörd €", "a\u{0}b"])
    func roundTrip(_ text: String) {
        let secret = Secret(text)
        #expect(secret.exposedText == text)
        #expect(secret.exposedBytes == Array(text.utf8))
        #expect(secret.isEmpty == text.isEmpty)
        #expect(secret.withExposed { $0.count } == text.utf8.count)
    }

    @Test("A secret has no text if its bytes are not UTF-8")
    func notText() {
        let secret = Secret([0xFF, 0xFE, 0x41])
        #expect(secret.exposedText == nil)
        #expect(secret.exposedBytes == [0xFF, 0xFE, 0x41])
    }

    @Test("A secret can be created from slices, lazy collections and substrings")
    func sources() {
        #expect(Secret([1, 2, 3, 4][1...2]) == Secret([2, 3]))
        #expect(Secret([1, 2].lazy.map { $0 + 1 }) == Secret([2, 3]))
        #expect(Secret("Bearer abc".dropFirst(7)) == Secret("abc"))
    }

    @Test(
        "A secret is equal only to one with the same bytes",
        arguments: [
            ("", "", true), ("a", "a", true), ("abc", "abc", true),
            ("", "a", false), ("abc", "ab", false), ("ab", "abc", false),
            ("abc", "abd", false), ("xbc", "abc", false), ("abc", "ABC", false),
            // Canonically equivalent as strings, but not the same bytes.
            ("é", "e\u{301}", false),
        ])
    func equality(_ left: String, _ right: String, _ isEqual: Bool) {
        #expect((Secret(left) == Secret(right)) == isEqual)
        #expect((Secret(right) == Secret(left)) == isEqual)
    }

    @Test("A secret is not equal to one that differs in a single bit, wherever it is")
    func everyBitCounts() {
        let bytes = Array("0123456789abcdef".utf8)
        for position in bytes.indices {
            for bit in 0..<8 {
                var other = bytes
                other[position] ^= 1 << bit
                #expect(Secret(bytes) != Secret(other))
            }
        }
    }

    @Test("A secret rethrows errors of its reader, with their type")
    func typedErrors() {
        struct Refused: Error {}
        #expect(throws: Refused.self) {
            try Secret("a").withExposed { (_) throws(Refused) -> Int in throw Refused() }
        }
    }

    @Test("Copies of a secret share its bytes")
    func copies() {
        let original = Secret("token")
        let copy = original
        let first = original.withExposed { $0.withUnsafeBufferPointer { $0.baseAddress } }
        let second = copy.withExposed { $0.withUnsafeBufferPointer { $0.baseAddress } }
        #expect(first == second)
    }

    @Test("A secret overwrites its storage with zeros")
    func wiping() {
        let storage = SecretStorage(copying: Array("token".utf8))
        storage.wipe()
        let bytes = storage.withSpan { span in span.withUnsafeBufferPointer { Array($0) } }
        #expect(bytes == [0, 0, 0, 0, 0])
    }
}
