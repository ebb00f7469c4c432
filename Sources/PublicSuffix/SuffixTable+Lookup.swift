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
