import WebPrimitives

/// One entry of a HAR: the selected members, in whatever order they came. Of several with one name the last counts.
package struct HAREntry: Sendable {
    private var values = Array(repeating: HARValue.missing, count: HARMember.allCases.count)
    package internal(set) var requestFields = HARFields()
    package internal(set) var responseFields = HARFields()
    /// The response's `cookies`, of which only the names are read.
    package internal(set) var cookies = HARFields()
    /// The title of its page, if that is a URL, as Chromium and Firefox write it.
    package internal(set) var page: String?
    /// The offsets of its octets in the document.
    package internal(set) var place = 0..<0
    /// The offset of the text of the response's body, after the quote, and whether it is empty.
    package internal(set) var text: (start: Int, isEmpty: Bool)?

    /// A member of the entry, or of the log as far as it came before the entry.
    package internal(set) subscript(member: HARMember) -> HARValue {
        get { values[member.rawValue] }
        set { values[member.rawValue] = newValue }
    }

    /// How many octets are held.
    var byteCount: Int {
        values.reduce(requestFields.byteCount + responseFields.byteCount + cookies.byteCount) {
            $0 + ($1.octets?.count ?? 0)
        }
    }

    /// Forgets a member and the members within it.
    mutating func reset(_ member: HARMember) {
        if case .missing = self[member] { return }
        let family = member.family
        for index in family { values[index] = .missing }
        if family.contains(HARMember.requestFields.rawValue) { requestFields = HARFields() }
        if family.contains(HARMember.responseFields.rawValue) { responseFields = HARFields() }
        if family.contains(HARMember.cookies.rawValue) { cookies = HARFields() }
        if family.contains(HARMember.text.rawValue) { text = nil }
    }

    /// Adds an element to a member of fields; `nil` is one that is not an object.
    mutating func append(_ field: HARField?, to member: HARMember) {
        switch member {
        case .requestFields: requestFields.append(field)
        case .responseFields: responseFields.append(field)
        default: cookies.append(field)
        }
    }
}

/// An object with `name` and `value`: a field of a message, or a cookie.
package struct HARField: Sendable {
    package internal(set) var name = HARValue.missing
    package internal(set) var value = HARValue.missing
}

/// The fields of a message that are needed, within ``JSONLimits/valueByteCount``, each counted with 64 octets more.
package struct HARFields: Sendable {
    /// The fields in their order; `nil` for an element that is not an object.
    package private(set) var elements: [HARField?] = []
    /// Whether a field was left out since there was no more room.
    package private(set) var isOverfull = false
    private(set) var byteCount = 0

    mutating func append(_ field: HARField?) {
        let count = (field?.name.octets?.count ?? 0) + (field?.value.octets?.count ?? 0) + 64
        guard byteCount + count <= JSONLimits.valueByteCount else {
            isOverfull = true
            return
        }
        byteCount += count
        elements.append(field)
    }
}
