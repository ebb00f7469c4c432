import WebPrimitives

/// An entity tag (RFC 9110, section 8.8.3).
struct EntityTag: Sendable, Hashable {
    /// Whether it is a weak validator: `W/"…"`.
    let isWeak: Bool
    /// The octets between the quotation marks.
    let opaque: Octets

    /// Parses a whole field value; `nil` if it is not an entity tag. `W/` is case-sensitive.
    init?(_ text: Octets) {
        var position = 0
        guard let tag = EntityTag.next(text, &position), position == text.count else { return nil }
        self = tag
    }

    private init(isWeak: Bool, opaque: Octets) {
        self.isWeak = isWeak
        self.opaque = opaque
    }

    /// Section 8.8.3.2: Two entity tags are equivalent if both are not weak and their opaque tags match.
    func stronglyMatches(_ other: EntityTag) -> Bool { !isWeak && !other.isWeak && opaque == other.opaque }

    /// Section 8.8.3.2: Two entity tags are equivalent if their opaque tags match, whether or not they are weak.
    func weaklyMatches(_ other: EntityTag) -> Bool { opaque == other.opaque }

    /// Reads the entity tag at `position`, and moves `position` past it.
    fileprivate static func next(_ text: Octets, _ position: inout Int) -> EntityTag? {
        text.withSpan { bytes in
            var start = position
            let isWeak = start + 1 < bytes.count && bytes[start] == 0x57 && bytes[start + 1] == ASCII.slash
            if isWeak { start += 2 }
            guard start < bytes.count, bytes[start] == ASCII.quote,
                let end = bytes.firstIndex(of: ASCII.quote, from: start + 1)
            else { return nil }
            // etagc = %x21 / %x23-7E / obs-text: a backslash escapes nothing.
            for index in (start + 1)..<end where bytes[index] <= ASCII.space || bytes[index] == 0x7F { return nil }
            position = end + 1
            return EntityTag(isWeak: isWeak, opaque: text[(start + 1)..<end])
        }
    }
}

/// The entity tags of If-None-Match (RFC 9110, section 13.1.2).
enum EntityTagCondition: Sendable, Hashable {
    /// `*`
    case any
    /// A list.
    case tags([EntityTag])

    /// Reads the field lines; `nil` without lines. A value that is not an entity tag matches nothing and is skipped.
    init?(_ values: [Octets]) {
        guard !values.isEmpty else { return nil }
        if values.count == 1, values[0] == "*" {
            self = .any
            return
        }
        self = .tags(values.flatMap(Self.tags).prefix(FieldList.memberLimit).map { $0 })
    }

    private static func tags(_ value: Octets) -> [EntityTag] {
        var tags: [EntityTag] = []
        var position = 0
        while position < value.count {
            if let tag = EntityTag.next(value, &position) {
                tags.append(tag)
            } else {
                while position < value.count, value[position] != ASCII.comma { position += 1 }
            }
            while position < value.count, value[position] == ASCII.comma || ASCII.isBlank(value[position]) {
                position += 1
            }
        }
        return tags
    }

    /// Whether an entity tag is meant, by weak comparison.
    func matches(_ tag: EntityTag?) -> Bool {
        switch self {
        case .any: true
        case .tags(let tags): tag.map { tag in tags.contains { $0.weaklyMatches(tag) } } ?? false
        }
    }
}
