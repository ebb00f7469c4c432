import CookieModel

/// Reads the `origins` of a storage state: the `localStorage` of each origin, whose name may come after its items.
///
/// The items left out of an origin make one error, with the number of the first one. No error contains an item's key or
/// value.
struct StorageStateOrigins: Sendable {
    private enum Name {
        case unknown
        case unusable
        case known(RequestURL)
    }

    private struct Item {
        let number: Int
        let key: Octets
        let value: Octets
    }

    private let source: String
    /// Which origin is being read, from 1.
    private var number = 0
    private var name = Name.unknown
    private var itemNumber = 0
    /// Items that came before the name of their origin, and how many octets they have.
    private var waiting: [Item] = []
    private var waitingOctetCount = 0
    /// The items left out of the origin so far, with the reason for the first of them.
    private var leftOut: (number: Int, finding: String, count: Int)?
    /// The failures of the origins before.
    private var failures: [CaptureItem] = []
    private var databaseCount = 0

    init(source: String) {
        self.source = source
    }

    /// Begins with the next origin.
    mutating func beginOrigin() {
        endOrigin()
        number += 1
        (name, itemNumber, waitingOctetCount) = (.unknown, 0, 0)
    }

    /// Passes over an IndexedDB database.
    mutating func skipDatabase() {
        databaseCount += 1
    }

    /// Takes the name of the origin.
    mutating func take(name value: JSONValue, into items: inout [CaptureItem]) {
        drain(into: &items)
        if let url = value.text.flatMap({ try? RequestURL($0) }), url.scheme == .https || url.scheme == .http {
            name = .known(url)
        } else {
            name = .unusable
        }
        let found = waiting
        waiting = []
        for item in found { append(item, to: &items) }
    }

    /// Takes an item of the origin's `localStorage`.
    mutating func take(item value: JSONValue, isWhole: Bool, into items: inout [CaptureItem]) {
        drain(into: &items)
        itemNumber += 1
        guard let object = value.object else { return leaveOut(itemNumber, "it is not an object") }
        for (title, part) in [("name", object["name"]), ("value", object["value"])] where part?.octets == nil {
            guard isWhole, part != nil else { return leaveOut(itemNumber, "it has no \(title)") }
            guard case .tooLong = part else { return leaveOut(itemNumber, "its \(title) is not a string") }
            return leaveOut(itemNumber, "its \(title) is longer than 1 MiB")
        }
        append(
            Item(number: itemNumber, key: object["name"]?.octets ?? [], value: object["value"]?.octets ?? []),
            to: &items)
    }

    /// Ends the document.
    mutating func finish(into items: inout [CaptureItem]) {
        endOrigin()
        drain(into: &items)
        guard databaseCount > 0 else { return }
        items.append(.failure(.databasesIgnored(databaseCount), at: CapturePlace(source: source)))
    }

    private mutating func append(_ item: Item, to items: inout [CaptureItem]) {
        switch name {
        case .known(let url):
            items.append(
                .storage(WebStorageItem(of: url, key: item.key, value: item.value), CapturePlace(source: source)))
        case .unusable: leaveOut(item.number, "its origin is not an http or https origin")
        case .unknown:
            waitingOctetCount += item.key.count + item.value.count
            guard waiting.count < WebStorageItem.originItemLimit, waitingOctetCount <= WebStorageItem.originOctetLimit
            else { return leaveOut(item.number, "more than 5 MiB of items precede the name of their origin") }
            waiting.append(item)
        }
    }

    private mutating func leaveOut(_ number: Int, _ finding: String) {
        leftOut = (leftOut?.number ?? number, leftOut?.finding ?? finding, (leftOut?.count ?? 0) + 1)
    }

    private mutating func endOrigin() {
        for item in waiting { leaveOut(item.number, "its origin has no name") }
        waiting = []
        guard let leftOut else { return }
        self.leftOut = nil
        failures.append(
            .failure(
                .storageLeftOut(leftOut.finding, origin: number, item: leftOut.number, count: leftOut.count),
                at: CapturePlace(source: source)))
    }

    private mutating func drain(into items: inout [CaptureItem]) {
        items += failures
        failures = []
    }
}
