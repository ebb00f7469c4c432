/// What has been read of one member of `headers`. Its name may come after its value.
struct HARHeader {
    enum Name {
        case missing
        case setCookie
        case location
        case request(RequestField)
        case other
        case notText
    }

    enum Value {
        case missing
        case text
        case tooLong
        case notText
    }

    var name = Name.missing
    var value = Value.missing
    /// The value, where it is text.
    var text: [UInt8] = []

    /// Whether the value is of interest, as far as can be told.
    var wantsValue: Bool {
        switch name {
        case .missing, .setCookie, .location, .request: true
        case .other, .notText: false
        }
    }

    /// Forgets everything, for the next header.
    mutating func reset() {
        name = .missing
        value = .missing
        text.removeAll(keepingCapacity: text.capacity <= 4096)
    }
}
