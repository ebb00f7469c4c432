/// What repeated measurements of one thing came to.
struct Samples: Encodable {
    private(set) var values: [Double] = []

    mutating func append(_ value: Double) {
        values.append(value)
    }

    /// The least disturbed one: others on the machine can only add to a time.
    var best: Double { values.min() ?? .nan }

    /// The one in the middle.
    var median: Double {
        let sorted = values.sorted()
        guard !sorted.isEmpty else { return .nan }
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
}
