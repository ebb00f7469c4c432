import HTTPCaching
import WebPrimitives

/// What is sealed in a row of the index: whose response it is, the response without its body, and the body's key.
struct StoredHead: Sendable {
    let jar: Octets
    let audience: Octets
    let site: Octets
    var response: CachedResponse
    let body: BodySeal

    init(jar: Octets, audience: Octets, site: Octets, response: CachedResponse, body: BodySeal) {
        self.jar = jar
        self.audience = audience
        self.site = site
        self.response = response
        self.body = body
    }

    /// Whether the head was stored for this URL or, by No-Vary-Search, may answer for it.
    func isFor(_ url: RequestURL, jar: Octets, audience: Octets) -> Bool {
        self.jar == jar && self.audience == audience && response.url.withoutQuery == url.withoutQuery
            && (response.url.query == url.query || response.fields.has("no-vary-search"))
    }

    /// Whether a cache stores a head of its size, in as many groups.
    func fits(_ limits: CacheLimits) -> Bool {
        guard response.groups.count <= limits.groups else { return false }
        // Most heads are so short that it is not worth while to write their octets.
        var count = jar.count + audience.count + site.count + response.url.path.count + response.url.query.count
        for line in response.fields.lines { count += line.name.count + line.value.count }
        for (name, value) in response.nominated.values { count += name.count + (value?.count ?? 0) }
        return count < limits.headSize / 8 || octets.count <= limits.headSize
    }

    // MARK: - Octets

    /// The head as octets.
    var octets: [UInt8] {
        var writer = OctetWriter()
        for text in [jar, audience, site, Octets(response.url.description)] { writer.append(text) }
        writer.append(Int64(response.status))
        writer.append(response.requestTime.microseconds)
        writer.append(response.responseTime.microseconds)
        writer.append(response.isInvalid ? 1 : 0)
        writer.append(response.invalidatedAt == nil ? 0 : 1)
        writer.append(response.invalidatedAt?.microseconds ?? 0)
        switch response.extent {
        case .whole(let length):
            writer.append(0)
            writer.append(length ?? -1)
        case .part(let positions, let total):
            writer.append(1)
            writer.append(positions.lowerBound)
            writer.append(positions.upperBound)
            writer.append(total ?? -1)
        }
        writer.append(body.length)
        writer.append(Octets(body.keyOctets))
        writer.append(Int64(response.fields.lines.count))
        for line in response.fields.lines {
            writer.append(line.name)
            writer.append(line.value)
        }
        writer.append(Int64(response.nominated.values.count))
        for (name, value) in response.nominated.values {
            writer.append(name)
            writer.append(value == nil ? 0 : 1)
            writer.append(value ?? [])
        }
        return writer.octets
    }

    /// Reads the octets of a head; `nil` if they are not one.
    init?(_ octets: Octets) {
        var reader = OctetReader(octets)
        guard let jar = reader.text(), let audience = reader.text(), let site = reader.text(),
            let url = reader.text().flatMap({ try? RequestURL($0) }), let status = reader.number(),
            let requestTime = reader.number(), let responseTime = reader.number(), let isInvalid = reader.number(),
            let hasInvalidation = reader.number(), let invalidation = reader.number(),
            let extent = reader.extent(), let length = reader.number(), let key = reader.text(),
            let body = BodySeal(key: key, length: length), let lineCount = reader.number()
        else { return nil }
        var fields = MessageFields()
        for _ in 0..<max(0, lineCount) {
            guard let name = reader.text(), let value = reader.text() else { return nil }
            fields.append(name, value)
        }
        guard let nominatedCount = reader.number() else { return nil }
        var nominated: [Octets: Octets?] = [:]
        for _ in 0..<max(0, nominatedCount) {
            guard let name = reader.text(), let isPresent = reader.number(), let value = reader.text() else {
                return nil
            }
            nominated.updateValue(isPresent == 0 ? nil : value, forKey: name)
        }
        self.init(
            jar: jar, audience: audience, site: site,
            response: CachedResponse(
                url: url, status: Int(status), fields: fields, nominated: NominatedFields(values: nominated),
                requestTime: Timestamp(microseconds: requestTime), responseTime: Timestamp(microseconds: responseTime),
                extent: extent, isInvalid: isInvalid != 0,
                invalidatedAt: hasInvalidation == 0 ? nil : Timestamp(microseconds: invalidation)),
            body: body)
    }
}

/// Writes numbers and texts, each text after its length.
private struct OctetWriter {
    private(set) var octets: [UInt8] = []

    mutating func append(_ number: Int64) {
        withUnsafeBytes(of: number.bigEndian) { octets += $0 }
    }

    mutating func append(_ text: Octets) {
        append(Int64(text.count))
        octets += text
    }
}

/// Reads what ``OctetWriter`` has written. The texts share its octets.
private struct OctetReader {
    private let octets: Octets
    private var position = 0

    init(_ octets: Octets) {
        self.octets = octets
    }

    mutating func number() -> Int64? {
        let size = MemoryLayout<Int64>.size
        guard octets.count - position >= size else { return nil }
        defer { position += size }
        return octets[position..<(position + size)].reduce(0) { $0 << 8 | Int64($1) }
    }

    mutating func text() -> Octets? {
        guard let count = number(), count >= 0, count <= octets.count - position else { return nil }
        defer { position += Int(count) }
        return octets[position..<(position + Int(count))]
    }

    mutating func extent() -> BodyExtent? {
        switch number() {
        case 0: return number().map { .whole(length: $0 < 0 ? nil : $0) }
        case 1:
            guard let lower = number(), let upper = number(), let total = number(), lower <= upper else { return nil }
            return .part(lower..<upper, total: total < 0 ? nil : total)
        default: return nil
        }
    }
}
