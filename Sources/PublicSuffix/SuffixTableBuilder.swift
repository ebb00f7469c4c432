/// Makes a ``SuffixTable`` from rules. The same rules in the same order make the same table.
struct SuffixTableBuilder {
    private struct Key: Hashable {
        let parent: Int
        let label: [UInt8]
    }

    private struct Node {
        let key: Key
        let labelStart: Int
        var flags: SuffixTable.Flags = []
    }

    private static let root = -1

    /// The number of distinct rules.
    private(set) var ruleCount = 0

    /// Every name that a rule mentions, and every name above one, parents before children.
    private var nodes: [Node] = []
    private var indexes: [Key: Int] = [:]
    private var labels: [UInt8] = []
    private var labelStarts: [[UInt8]: Int] = [:]

    /// Adds a rule. Where a list has the same rule in both sections, the first one counts.
    mutating func insert(
        _ rule: DomainRule, section: PublicSuffixList.Section, line: Int
    ) throws(PublicSuffixListError) {
        var index = Self.root
        for label in rule.labels.reversed() {
            index = try child(label, of: index, line: line)
        }
        guard nodes.indices.contains(index) else { return }
        let kind: SuffixTable.Flags
        let isPrivate: SuffixTable.Flags
        switch rule.kind {
        case .name: (kind, isPrivate) = (.name, .isPrivate)
        case .exception: (kind, isPrivate) = (.exception, .isPrivate)
        case .wildcard: (kind, isPrivate) = (.wildcard, .wildcardIsPrivate)
        }
        guard !nodes[index].flags.contains(kind) else { return }
        nodes[index].flags.insert(kind)
        if section == .private { nodes[index].flags.insert(isPrivate) }
        ruleCount += 1
    }

    private mutating func child(
        _ label: [UInt8], of parent: Int, line: Int
    ) throws(PublicSuffixListError) -> Int {
        let key = Key(parent: parent, label: label)
        if let index = indexes[key] { return index }
        let start = labelStarts[label] ?? labels.count
        if start == labels.count { labels += label }
        labelStarts[label] = start
        nodes.append(Node(key: key, labelStart: start))
        guard Self.slotCount(for: nodes.count) <= SuffixTable.maximumSlotCount,
            labels.count <= SuffixTable.maximumLabelsLength
        else { throw PublicSuffixListError(.listTooLarge, line: line) }
        if parent != Self.root { nodes[parent].flags.insert(.hasChildren) }
        indexes[key] = nodes.count - 1
        return nodes.count - 1
    }

    /// A power of two that leaves a third of the slots free, so that a miss is found soon.
    private static func slotCount(for nodeCount: Int) -> Int {
        var slotCount = 4
        while slotCount * 2 < nodeCount * 3 {
            slotCount *= 2
        }
        return slotCount
    }

    /// The table of all rules so far.
    func table() -> SuffixTable {
        let slotCount = UInt32(Self.slotCount(for: nodes.count))
        var keys = [UInt32](repeating: 0, count: Int(slotCount))
        var values = keys
        var slotOfNode: [UInt32] = []
        for node in nodes {
            let parent = node.key.parent == Self.root ? slotCount : slotOfNode[node.key.parent]
            var hash = parent
            for octet in node.key.label.reversed() {
                SuffixTable.mix(octet, into: &hash)
            }
            var slot = SuffixTable.home(hash, slotCount: slotCount)
            while keys[Int(slot)] != 0 {
                slot = slot + 1 == slotCount ? 0 : slot + 1
            }
            keys[Int(slot)] = SuffixTable.key(parent: parent, length: node.key.label.count)
            values[Int(slot)] = SuffixTable.value(labelStart: node.labelStart, flags: node.flags)
            slotOfNode.append(slot)
        }
        let slots = zip(keys, values).flatMap { key, value in SuffixTable.text(key: key, value: value) }
        return SuffixTable(slots: slots, labels: labels)
    }
}
