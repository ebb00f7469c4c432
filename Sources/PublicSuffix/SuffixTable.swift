/// A trie over the labels of all rules, from the last label to the first, laid out as a hash table in printable ASCII.
///
/// Text, because a string literal compiles in no time, takes no work at start and stays in read-only memory. An octet
/// carries six bits as `"0" + digit`, least significant digit first.
///
/// `slots` has 2^n slots (open addressing, linear probing) of eight octets, so that one load reads a slot:
///
/// | octets | meaning |
/// | --- | --- |
/// | 0-2 | the slot of the parent; the number of slots if the parent is the root |
/// | 3 | the length of the label; 0 in a free slot |
/// | 4-6 | where the label begins in `labels` |
/// | 7 | ``Flags`` |
package struct SuffixTable: Sendable, Equatable {
    private enum Storage {
        case embedded(slots: StaticString, labels: StaticString)
        case owned(slots: [UInt8], labels: [UInt8])
    }

    private let storage: Storage

    /// A table in the memory of the program. The literals are ones that ``SuffixTableBuilder`` made.
    init(slots: StaticString, labels: StaticString) {
        storage = .embedded(slots: slots, labels: labels)
    }

    /// A table that was built at run time.
    init(slots: [UInt8], labels: [UInt8]) {
        storage = .owned(slots: slots, labels: labels)
    }

    /// The rule that decides for `host`, by its outcome.
    func match(_ host: Span<UInt8>) -> SuffixMatch {
        switch storage {
        case .embedded(let slots, let labels):
            let slotSpan = Span(_unsafeStart: slots.utf8Start, count: slots.utf8CodeUnitCount)
            let labelSpan = Span(_unsafeStart: labels.utf8Start, count: labels.utf8CodeUnitCount)
            return Self.match(host, slots: slotSpan, labels: labelSpan)
        case .owned(let slots, let labels):
            return Self.match(host, slots: slots.span, labels: labels.span)
        }
    }

    /// The text of the slots.
    package var slots: [UInt8] {
        switch storage {
        case .embedded(let slots, _): Self.octets(of: slots)
        case .owned(let slots, _): slots
        }
    }

    /// The text of the labels, each once, without separators.
    package var labels: [UInt8] {
        switch storage {
        case .embedded(_, let labels): Self.octets(of: labels)
        case .owned(_, let labels): labels
        }
    }

    package static func == (left: SuffixTable, right: SuffixTable) -> Bool {
        if case .embedded(let slots, let labels) = left.storage,
            case .embedded(let otherSlots, let otherLabels) = right.storage,
            slots.utf8Start == otherSlots.utf8Start, labels.utf8Start == otherLabels.utf8Start
        {
            return true
        }
        return left.slots == right.slots && left.labels == right.labels
    }

    private static func octets(of literal: StaticString) -> [UInt8] {
        Array(UnsafeBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }
}

extension SuffixTable {
    /// The properties of a slot's name, in six bits.
    struct Flags: OptionSet {
        let rawValue: UInt8

        /// A rule names it.
        static let name = Flags(rawValue: 1)
        /// An exception names it.
        static let exception = Flags(rawValue: 2)
        /// That rule or exception is in the private section.
        static let isPrivate = Flags(rawValue: 4)
        /// A wildcard covers the names one label below.
        static let wildcard = Flags(rawValue: 8)
        /// That wildcard is in the private section.
        static let wildcardIsPrivate = Flags(rawValue: 16)
        /// There are slots one label below.
        static let hasChildren = Flags(rawValue: 32)
    }

    static let dot = UInt8(ascii: ".")
    static let slotSize = 8
    /// Numbers have three digits, and the root is the number of slots.
    static let maximumSlotCount = 1 << 17
    static let maximumLabelsLength = 1 << 18
    private static let zero = UInt64(UInt8(ascii: "0")) * 0x0101_0101_0101_0101

    /// Spreads the low eighteen bits over three octets of six bits.
    static func spread(_ number: UInt32) -> UInt32 {
        number & 0x3F | (number & 0xFC0) << 2 | (number & 0x3F000) << 4
    }

    /// The inverse of ``spread(_:)``.
    static func gather(_ digits: UInt32) -> UInt32 {
        digits & 0x3F | (digits >> 2) & 0xFC0 | (digits >> 4) & 0x3F000
    }

    /// The low half of a slot, which identifies a label below a parent.
    static func key(parent: UInt32, length: Int) -> UInt32 {
        spread(parent) | UInt32(truncatingIfNeeded: length) << 24
    }

    /// The high half of a slot.
    static func value(labelStart: Int, flags: Flags) -> UInt32 {
        spread(UInt32(truncatingIfNeeded: labelStart)) | UInt32(flags.rawValue) << 24
    }

    /// A slot as octets of text.
    static func text(key: UInt32, value: UInt32) -> [UInt8] {
        let digits = (UInt64(value) << 32 | UInt64(key)) &+ zero
        return (0..<slotSize).map { index in UInt8(truncatingIfNeeded: digits >> (8 * UInt64(index))) }
    }

    /// The digits of a slot, from its text.
    static func slot(_ index: UInt32, in slots: RawSpan) -> UInt64 {
        let text = slots.unsafeLoadUnaligned(fromByteOffset: Int(index) * slotSize, as: UInt64.self)
        return UInt64(littleEndian: text) &- zero
    }

    /// Mixes one octet of a label, read from its end, into a hash that starts as the parent's number.
    static func mix(_ octet: UInt8, into hash: inout UInt32) {
        hash = hash &* 33 ^ UInt32(octet)
    }

    /// The slot to look in first.
    static func home(_ hash: UInt32, slotCount: UInt32) -> UInt32 {
        // The upper bits of a product depend on all bits of the factor; 2^32 divided by the golden ratio spreads them.
        UInt32(truncatingIfNeeded: (UInt64(hash &* 0x9E37_79B1) &* UInt64(slotCount)) >> 32)
    }
}

extension SuffixTable {
    /// The rules that the table was made from, in no particular order.
    var rules: [(rule: DomainRule, section: PublicSuffixList.Section)] {
        let (text, labels) = (slots, labels)
        let count = UInt32(text.count / Self.slotSize)
        let digits = text.withUnsafeBytes { bytes in
            (0..<count).map { Self.slot($0, in: RawSpan(_unsafeBytes: bytes)) }
        }
        var rules: [(rule: DomainRule, section: PublicSuffixList.Section)] = []
        for slot in digits {
            let flags = Flags(rawValue: UInt8(truncatingIfNeeded: slot >> 56))
            guard !flags.isDisjoint(with: [.name, .exception, .wildcard]) else { continue }
            var names: [[UInt8]] = []
            var place = slot
            while true {
                let start = Int(Self.gather(UInt32(truncatingIfNeeded: place >> 32)))
                names.append(Array(labels[start..<(start + Int(UInt8(truncatingIfNeeded: place >> 24)))]))
                let parent = Self.gather(UInt32(truncatingIfNeeded: place))
                guard parent < count else { break }
                place = digits[Int(parent)]
            }
            func append(_ kind: DomainRule.Kind, _ flag: Flags, _ isPrivate: Flags) {
                guard flags.contains(flag) else { return }
                rules.append((DomainRule(kind: kind, labels: names), flags.contains(isPrivate) ? .private : .icann))
            }
            append(.name, .name, .isPrivate)
            append(.exception, .exception, .isPrivate)
            append(.wildcard, .wildcard, .wildcardIsPrivate)
        }
        return rules
    }
}

extension SuffixTable {
    /// The algorithm of publicsuffix.org, as one walk from the last label to the first.
    ///
    /// The walk ends with the first label that is not in the trie, so it takes as many steps as the longest rule that could
    /// match has labels. The labels before it are only searched for an empty one.
    static func match(
        _ host: Span<UInt8>, slots: Span<UInt8>, labels: Span<UInt8>
    ) -> SuffixMatch {
        let count = host.count
        let notADomain = SuffixMatch(length: count, section: nil)
        let slotCount = UInt32(truncatingIfNeeded: slots.count / slotSize)

        var node = slotCount
        var parentFlags: Flags = .hasChildren
        var best = SuffixMatch(length: 0, section: nil)
        var hasException = false
        var end = count
        while true {
            var start = end
            var hash = node
            while start > 0 {
                let octet = host[start - 1]
                guard octet != dot else { break }
                mix(octet, into: &hash)
                start -= 1
            }
            guard start < end else { return notADomain }

            // "If no rules match, the prevailing rule is "*"."
            if end == count { best.length = count - start }
            // "If more than one rule matches, the prevailing rule is the one which is an exception rule."
            // "If there is no matching exception rule, the prevailing rule is the one with the most labels."
            if parentFlags.contains(.wildcard), !hasException {
                best = SuffixMatch(length: count - start, section: section(parentFlags.contains(.wildcardIsPrivate)))
            }
            let slot =
                parentFlags.contains(.hasChildren)
                ? find(host, start..<end, home(hash, slotCount: slotCount), below: node, slots: slots, labels: labels)
                : nil
            if let slot {
                node = slot.index
                parentFlags = slot.flags
                if slot.flags.contains(.exception) {
                    // "If the prevailing rule is an exception rule, modify it by removing the leftmost label."
                    best = SuffixMatch(length: count - end - 1, section: section(slot.flags.contains(.isPrivate)))
                    hasException = true
                } else if slot.flags.contains(.name), !hasException {
                    best = SuffixMatch(length: count - start, section: section(slot.flags.contains(.isPrivate)))
                }
            }
            guard start > 0 else {
                best.hasRulesBelow = slot != nil && !parentFlags.isDisjoint(with: [.hasChildren, .wildcard])
                return best
            }
            end = start - 1
            guard slot != nil, !parentFlags.isDisjoint(with: [.hasChildren, .wildcard]) else { break }
        }
        return hasEmptyLabel(host, before: end) ? notADomain : best
    }

    /// The slot of `host[label]` below a parent.
    private static func find(
        _ host: Span<UInt8>, _ label: Range<Int>, _ home: UInt32, below parent: UInt32,
        slots: Span<UInt8>, labels: Span<UInt8>
    ) -> (index: UInt32, flags: Flags)? {
        guard label.count <= DomainRule.maximumLabelLength else { return nil }
        let slotCount = UInt32(truncatingIfNeeded: slots.count / slotSize)
        let wanted = key(parent: parent, length: label.count)
        var index = home
        while true {
            let slot = slot(index, in: slots.bytes)
            let key = UInt32(truncatingIfNeeded: slot)
            let value = UInt32(truncatingIfNeeded: slot >> 32)
            if key == wanted, isEqual(host, label, labels, at: Int(gather(value))) {
                return (index, Flags(rawValue: UInt8(truncatingIfNeeded: value >> 24)))
            }
            guard key >> 24 != 0 else { return nil }
            index = index + 1 == slotCount ? 0 : index + 1
        }
    }

    private static func isEqual(
        _ host: Span<UInt8>, _ label: Range<Int>, _ labels: Span<UInt8>, at start: Int
    ) -> Bool {
        let wanted = host.extracting(label)
        let stored = labels.extracting(start..<start + label.count)
        for index in wanted.indices where wanted[index] != stored[index] {
            return false
        }
        return true
    }

    private static func hasEmptyLabel(_ host: Span<UInt8>, before end: Int) -> Bool {
        var previous = dot
        for index in 0..<end {
            let octet = host[index]
            if octet == dot, previous == dot { return true }
            previous = octet
        }
        return previous == dot
    }

    private static func section(_ isPrivate: Bool) -> PublicSuffixList.Section {
        isPrivate ? .private : .icann
    }
}
