import CookieModel

/// Octets in Foundation's header fields, which are text.
///
/// Foundation on Linux sends text as UTF-8 and decodes what it receives as UTF-8. Apple's takes what it receives for
/// Latin-1; how it sends text that is not ASCII is nowhere said.
enum HeaderText {
    /// Whether these octets go out exactly as they are.
    static func carries(_ octets: Octets) -> Bool {
        #if canImport(FoundationNetworking)
            octets.utf8String != nil
        #else
            octets.allSatisfy { $0 < 0x80 }
        #endif
    }

    /// Octets as text for a field; they are some that a field carries.
    static func text(_ octets: Octets) -> String {
        String(decoding: octets, as: UTF8.self)
    }

    /// The octets of a field that was received.
    static func octets(received text: String) -> Octets {
        #if !canImport(FoundationNetworking)
            let scalars = text.unicodeScalars
            if scalars.allSatisfy({ $0.value < 0x100 }) {
                return Octets(scalars.map { UInt8(truncatingIfNeeded: $0.value) })
            }
        #endif
        return Octets(text)
    }
}
