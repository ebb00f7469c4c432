import HTTPMessages
import NIOCore
import WebPrimitives

/// The result of a search for secrets in a body, for a recording.
struct SearchedBody {
    /// The reason why the body is left out; `nil` if it is recorded.
    private(set) var omission: StaticString?
    /// The body that is recorded instead; `nil` if it is recorded as it was sent.
    private(set) var replacement: [UInt8]?
    /// The body without its coding; `nil` if it was not searched.
    private(set) var octets: [UInt8]?
    /// The secrets that were found.
    private(set) var secrets: [[UInt8]] = []

    /// Searches for secrets in a body.
    ///
    /// - Parameters:
    ///   - limit: The maximum length, also after decoding.
    ///   - names: The names of secrets.
    ///   - decodes: Whether a body with a coding is decoded. If not, it is left out.
    init(
        _ body: RecordedBody, _ kind: NamedBody, _ head: MessageHead, upTo limit: Int, for names: SecretNames,
        decoding decodes: Bool = false
    ) async {
        guard body.count > 0 else { return }
        let codings = head.members("content-encoding").filter { $0 != "identity" }
        guard let sent = await body.octets(upTo: limit) else {
            // A page is not left out because of its length: known secrets are found when it is written.
            var mayHaveSecrets = !codings.isEmpty || kind != .text
            if !mayHaveSecrets { mayHaveSecrets = await body.mayHaveNames }
            if mayHaveSecrets {
                omission = "The body is too long to look for secrets in it."
            }
            return
        }
        guard codings.isEmpty || decodes, let octets = SearchedBody.decoded(sent, codings, limit: limit) else {
            omission = "The body is encoded, so secrets in it cannot be found."
            return
        }
        self.octets = octets
        guard let places = SecretRedaction.places(in: octets, kind, names) else {
            // Without a name, there is nothing to find.
            if octets.contains(ASCII.colon) || octets.contains(ASCII.equals) {
                omission = "The body is damaged, so secrets in it cannot be found."
            } else if !codings.isEmpty {
                replacement = octets
            }
            return
        }
        secrets = places.map { Array(octets[$0.range]) }
        if !places.isEmpty || !codings.isEmpty { replacement = octets.redacted(places) }
    }

    /// A body without its codings (RFC 9110, section 8.4.1); `nil` if a coding is unknown, or if the body is damaged or
    /// too long.
    private static func decoded(_ body: [UInt8], _ codings: [String], limit: Int) -> [UInt8]? {
        guard codings.count <= 2 else { return nil }
        return codings.reversed().reduce(Optional(body)) { body, coding in
            guard let body else { return nil }
            switch coding {
            case "gzip", "x-gzip": return try? Inflate.gzip(body, limit: limit)
            case "deflate":
                return (try? Inflate.zlib(body, limit: limit)) ?? (try? Inflate.raw(body, limit: limit))
            default: return nil
            }
        }
    }
}

extension RecordedBody {
    /// Whether the beginning of a text looks like named values.
    fileprivate var mayHaveNames: Bool {
        get async {
            guard case .data(let piece)? = try? await spool.piece(at: 0) else { return true }
            let beginning = Array(piece.readableBytesView.prefix(1 << 12))
            return SecretRedaction.looksLikeJSON(beginning) || SecretRedaction.looksLikeForm(beginning[...])
        }
    }
}
