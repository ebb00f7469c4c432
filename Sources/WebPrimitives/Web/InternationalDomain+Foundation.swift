import Foundation

extension InternationalDomain {
    /// A normalization form of Unicode, by the name of ICU's transform.
    ///
    /// The better known `precomposedStringWithCanonicalMapping` and similar properties are not used: except on Apple's
    /// systems, they do not compose all Hangul syllables, and take U+10041 for an `A`.
    enum NormalizationForm: String {
        case c = "NFC"
        case d = "NFD"
        case kc = "NFKC"
    }

    /// The scalars in that form; `nil` if Foundation has no such transform, which is never.
    static func normalized(
        _ scalars: String.UnicodeScalarView, _ form: NormalizationForm
    ) -> String.UnicodeScalarView? {
        String(scalars).applyingTransform(StringTransform(form.rawValue), reverse: false)?.unicodeScalars
    }

    /// Whether the labels of a domain in A-labels meet the validity criteria of UTS 46 (section 4.1), the Bidi rule
    /// among them, which looks at all labels.
    ///
    /// - Parameter domain: A domain with at least one A-label; Foundation takes up to 2048 octets.
    static func isValid(_ domain: [UInt8]) -> Bool {
        // No URL may hold these; for every criterion the underscore is a character like them.
        let unwritable: [UInt8] = [0x22, 0x60, 0x7B, 0x7D]
        let text = String(decoding: domain.map { unwritable.contains($0) ? 0x5F : $0 }, as: UTF8.self)
        let components = URLComponents(string: "http://\(text)/", encodingInvalidCharacters: false)
        // Only the fact that the decoder decoded the domain matters, not the result. If an executable lacks the
        // decoder, Foundation returns the A-labels.
        return components?.host.map { host in !host.utf8.allSatisfy { $0 < 0x80 } } ?? false
    }
}
