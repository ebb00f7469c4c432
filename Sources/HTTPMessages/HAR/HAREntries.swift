package import WebPrimitives

/// The members of a HAR that a reader needs. All others are skipped.
package struct HARSelection: Sendable {
    /// The selected members in each container.
    fileprivate let members: [[HARMember]]
    fileprivate let needsField: @Sendable (Span<UInt8>, HARMember) -> Bool

    /// - Parameters:
    ///   - members: The values and fields that are needed. The containers on the way to them are read.
    ///   - needsField: Whether a field of that name is needed, in ``HARMember/requestFields`` or
    ///     ``HARMember/responseFields``. Otherwise it is left out.
    package init(_ members: [HARMember], needsField: @escaping @Sendable (Span<UInt8>, HARMember) -> Bool) {
        var selected: Set<HARMember> = [.entry]
        for member in members + [.entry] {
            var member = member
            while member != .document {
                selected.insert(member)
                member = member.parent
            }
        }
        self.members = HARMember.allCases.map { container in
            HARMember.allCases.filter { selected.contains($0) && $0.parent == container }
        }
        self.needsField = needsField
    }

    fileprivate func member(named name: Span<UInt8>, in container: HARMember) -> HARMember? {
        for member in members[container.rawValue] where name.equals(member.name) { return member }
        return nil
    }
}

/// Reads HAR 1.2 (HTTP Archive) as a stream, and gives out each entry when it has ended.
///
/// Members may come in any order. Of several with one name in one object the last counts, except `log` and `entries`:
/// their entries are given out while they are read, so all of them count.
package struct HAREntries: Sendable {
    private var stream: JSONStream<HAREntryHandler>

    /// A document whose first octet is at `line` and `column`, and at offset 0 in the places of entries.
    package init(_ selection: HARSelection, line: Int = 1, column: Int = 1) {
        stream = JSONStream(handler: HAREntryHandler(selection, offset: 1 - column), line: line, column: column)
    }

    /// A single entry, which begins at `offset` of the document.
    package init(_ selection: HARSelection, entryAt offset: Int) {
        stream = JSONStream(handler: HAREntryHandler(selection, offset: offset))
        stream.handler.enter(.entries)
    }

    /// Takes the next octets.
    ///
    /// - Returns: The entries that have ended in them.
    package mutating func read(_ octets: Span<UInt8>) -> [HAREntry] {
        stream.read(octets)
        defer { stream.handler.ended.removeAll() }
        return stream.handler.ended
    }

    /// Why reading stopped, if it did.
    package var problem: JSONProblem? { stream.problem }
    /// Whether the document is complete.
    package var isComplete: Bool { stream.isComplete }
    /// Whether there was a `log.entries` array.
    package var hasEntries: Bool { stream.handler.hasEntries }
    /// How many entries have begun, and how many have ended.
    package var begunCount: Int { stream.handler.begunCount }
    package var endedCount: Int { stream.handler.endedCount }
    /// The name of the program that wrote the document, as far as it is read.
    package var creator: HARValue { stream.handler.entry[.creatorName] }
    /// How many octets of the document are held.
    package var bufferedByteCount: Int { stream.bufferedByteCount + stream.handler.entry.byteCount }
}

/// Follows a ``HARSelection`` through the events of a document.
private struct HAREntryHandler: JSONHandler {
    private enum Part {
        case name, value, other
    }

    private let selection: HARSelection
    /// The difference between offsets in the document and in the stream.
    private let offset: Int
    /// The offset of the current event.
    private var position = 0
    /// The container that is being read, and the member whose value comes next; `nil` if it is not needed.
    private var container = HARMember.document
    private var member: HARMember? = .document
    /// The field that is being read, the part whose value comes next, and whether the field is needed as far as known.
    private var field: HARField?
    private var part = Part.other
    private var isNeeded = true
    private var pages: [String: String] = [:]
    /// The entry that is being read, with the members of the log.
    private(set) var entry = HAREntry()
    private(set) var begunCount = 0
    private(set) var endedCount = 0
    private(set) var hasEntries = false
    /// The entries that were not given out yet.
    var ended: [HAREntry] = []

    init(_ selection: HARSelection, offset: Int) {
        self.selection = selection
        self.offset = offset
    }

    /// Enters a container.
    mutating func enter(_ container: HARMember) {
        if container == .entries { hasEntries = true }
        self.container = container
        // The elements of an array are one member.
        member = container == .entries ? .entry : container == .pages ? .page : nil
    }

    mutating func at(_ offset: Int) { position = self.offset + offset }

    mutating func key(_ name: Span<UInt8>) {
        guard field == nil else {
            part = name.equals("name") ? .name : name.equals("value") ? .value : .other
            if part == .name { isNeeded = true }
            return
        }
        member = selection.member(named: name, in: container)
        if let member, member != .log, member != .entries { entry.reset(member) }
    }

    mutating func begin(_ kind: JSONContainer) -> Bool {
        if let member {
            switch (member.kind, kind) {
            case (.object, .object), (.array, .array), (.fields, .array):
                if member == .entry { beginEntry() }
                entry[member] = .read
                enter(member)
                return true
            default: break
            }
        } else if isInFields, kind == .object {
            (field, isNeeded) = (HARField(), true)
            return true
        }
        take(.other)
        return false
    }

    mutating func end() {
        if let field {
            if isNeeded { entry.append(field, to: container) }
            self.field = nil
        } else {
            if container == .entry { endEntry() }
            if container == .page { endPage() }
            enter(container.parent)
        }
    }

    mutating func beginString() -> Bool {
        switch member?.kind {
        case .value: return true
        case .text:
            entry[.text] = .read
            entry.text = (position + 1, true)
            return true
        case nil where field != nil && (part == .name || part == .value && isNeeded && container != .cookies):
            return true
        case .object, .array, .fields, nil:
            take(.other)
            return false
        }
    }

    mutating func string(_ text: Span<UInt8>) {
        if member == .text {
            entry.text?.isEmpty = text.isEmpty
            return
        }
        if field != nil, part == .name {
            isNeeded = container == .cookies || selection.needsField(text, container)
            guard isNeeded else { return }
        }
        take(.string(text.withUnsafeBufferPointer { Octets($0) }))
    }

    mutating func stringTooLong() {
        if member == .text {
            entry.text?.isEmpty = false
        } else {
            // No field has such a name.
            if field != nil, part == .name { isNeeded = container == .cookies }
            take(.tooLong)
        }
    }

    mutating func scalar(_ scalar: JSONScalar) { take(HARValue(scalar)) }

    /// Whether the elements of a list of fields are being read.
    private var isInFields: Bool { field == nil && container.kind == .fields }

    /// Takes a value that is not read further.
    private mutating func take(_ value: HARValue) {
        if field != nil {
            switch part {
            case .name: field?.name = value
            case .value: field?.value = value
            case .other: break
            }
        } else if isInFields {
            entry.append(nil, to: container)
        } else if let member {
            if member == .entry { beginEntry() }
            entry[member] = value
            if member == .entry { endEntry() }
        }
    }

    private mutating func beginEntry() {
        begunCount += 1
        entry.reset(.entry)
        entry.place = position..<position
    }

    private mutating func endEntry() {
        endedCount += 1
        entry.page = entry[.pageReference].text.flatMap { pages[$0] }
        entry.place = entry.place.lowerBound..<(position + 1)
        ended.append(entry)
    }

    /// The title of a page is its URL, unless the writer put the document's title there.
    private mutating func endPage() {
        defer { entry.reset(.page) }
        guard let name = entry[.pageID].text, let title = entry[.pageTitle].text, title.utf8.count <= 8192,
            title.hasPrefix("http"), pages.count < 10_000
        else { return }
        pages[name] = title
    }
}
