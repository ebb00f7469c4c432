import HTTPMessages
import WebPrimitives

/// The known secrets, and the forms in which they may be in a recording: plain, percent-encoded, and in Base64.
///
/// The time for checking a text is proportional to its length, and does not depend on the number of secrets.
struct KnownSecrets: Sendable {
    /// How certain it is that a value is a secret.
    enum Kind {
        /// A token, a password or the value of an HttpOnly cookie.
        case credential
        /// Another value that is left out. It may be a word or a URL that also occurs in pages.
        case value
    }

    /// The maximum number of secrets that are searched for.
    static let limit = 20_000
    /// The minimum length of a secret that is searched for, and of its forms.
    private static let minimumLength = 8
    /// The maximum length, in octets. Of a longer secret, the beginning is searched for.
    private static let maximumLength = 8192

    private var known: Set<[UInt8]> = []
    /// The forms, by their first eight octets.
    private var forms: [UInt64: [[UInt8]]] = [:]
    /// One bit for each hash of eight octets: whether a form may begin with them.
    private var filter = [UInt64](repeating: 0, count: 1 << 10)
    /// The length of the longest form.
    private(set) var longest = 0

    /// How many secrets there are.
    var count: Int { known.count }

    /// Adds a secret, unless it is too short or too similar to other text.
    ///
    /// - Parameter excluding: The text of a document itself, in which no secret may be found.
    mutating func add(_ secret: some Collection<UInt8>, _ kind: Kind, excluding document: [UInt8] = []) {
        for secret in [Array(secret), PercentEncoding.decode(Array(secret).span)] {
            let secret = Array(secret.prefix(KnownSecrets.maximumLength))
            guard known.count < KnownSecrets.limit, KnownSecrets.isDistinctive(secret, kind),
                !document.contains(secret), known.insert(secret).inserted
            else { continue }
            for form in KnownSecrets.forms(of: secret) where form.count >= KnownSecrets.minimumLength {
                let key = KnownSecrets.key(form[..<8])
                guard forms[key]?.contains(form) != true else { continue }
                // Longer forms first: after a part of one was overwritten, the rest would not be found.
                forms[key, default: []].append(form)
                forms[key]?.sort { $0.count > $1.count }
                let hash = KnownSecrets.hash(key)
                filter[hash >> 6] |= 1 << UInt64(hash & 63)
                longest = max(longest, form.count)
            }
        }
    }

    /// Overwrites the secrets in a text with the mark. Its length does not change.
    ///
    /// - Returns: How many were overwritten.
    func overwrite(_ text: inout [UInt8]) -> Int {
        guard !forms.isEmpty else { return 0 }
        let mark = Array(SecretRedaction.mark.utf8)
        var found = 0
        var key: UInt64 = 0
        var length = 0
        var index = 0
        while index < text.count {
            key = key << 8 | UInt64(text[index])
            length += 1
            index += 1
            guard length >= 8 else { continue }
            let hash = KnownSecrets.hash(key)
            guard filter[hash >> 6] & 1 << UInt64(hash & 63) != 0, let forms = forms[key] else { continue }
            let start = index - 8
            guard let form = forms.first(where: { text[start...].starts(with: $0) }),
                !KnownSecrets.isWithinEscape(text, start)
            else { continue }
            for offset in form.indices { text[start + offset] = mark[offset % mark.count] }
            found += 1
            index = start + form.count
            (key, length) = (0, 0)
        }
        return found
    }

    // MARK: - Forms

    /// Whether a value differs from other text: it is long enough, has several characters, and if it may not be a
    /// credential, is neither words nor a URL.
    private static func isDistinctive(_ secret: [UInt8], _ kind: Kind) -> Bool {
        guard secret.count >= minimumLength, Set(secret.prefix(64)).count >= 4,
            secret.prefix(SecretRedaction.mark.utf8.count).elementsEqual(SecretRedaction.mark.utf8) == false
        else { return false }
        guard kind == .value else { return true }
        let isText = secret.allSatisfy { ASCII.isLetter($0) || "-_. ".utf8.contains($0) }
        return !isText && secret.first != ASCII.slash && !secret.contains(Array("://".utf8))
    }

    /// The forms of a secret in a JSON string.
    private static func forms(of secret: [UInt8]) -> [[UInt8]] {
        var forms = [secret]
        for kept in ["-._~", "-._~!'()*", "-._~!'()*;,/?:@&=+$"] {
            let encoded = PercentEncoding.encode(secret, keeping: Array(kept.utf8))
            forms += [encoded, encoded.lowercasedEscapes, encoded.replacing([0x25], with: Array("%25".utf8))]
        }
        forms.append(secret.replacing([ASCII.slash], with: Array("\\/".utf8)))
        var all = forms.map { Array(HARText.escaped($0)) }
        // The octets around the secret decide on the first and the last character of its Base64.
        for offset in 0..<3 {
            let octets = [UInt8](repeating: 0, count: offset) + secret
            let whole = octets.count * 8 / 6
            let start = (offset * 8 + 5) / 6
            for text in [Base64.encode(octets), Base64.encodeForURL(octets)] { all.append(Array(text[start..<whole])) }
        }
        return all
    }

    private static func key(_ octets: some Sequence<UInt8>) -> UInt64 { octets.reduce(0) { $0 << 8 | UInt64($1) } }

    /// 16 bits of eight octets.
    private static func hash(_ key: UInt64) -> Int { Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) >> 48) }

    /// Whether a position is within the digits of an escape (`\u00e9`), which must stay intact.
    private static func isWithinEscape(_ text: [UInt8], _ start: Int) -> Bool {
        guard let escape = text[max(0, start - 5)..<start].lastIndex(of: ASCII.backslash), escape + 1 < start else {
            return false
        }
        return text[escape + 1] == UInt8(ascii: "u") && start < escape + 6
    }
}

extension [UInt8] {
    /// The text with the digits of its percent-encoding in lower case.
    fileprivate var lowercasedEscapes: [UInt8] {
        var text = self
        for index in indices where self[index] == ASCII.percent && index + 2 < count {
            text[index + 1] = ASCII.lowercased(self[index + 1])
            text[index + 2] = ASCII.lowercased(self[index + 2])
        }
        return text
    }
}
