import CookieModel

@testable import Captures

/// What a writer makes of cookies.
struct Written {
    var bytes: [UInt8] = []
    var outcomes: [CookieWriter.Outcome] = []

    /// - Parameter now: the time that a HAR says it was made.
    init(
        _ records: [CookieRecord], as format: ExportFormat, host: String? = nil,
        now: Timestamp = Timestamp(seconds: 1_795_000_000)
    ) {
        var writer = CookieWriter(format: format, host: host.flatMap { WebHost($0) }, now: now)
        for record in records { outcomes.append(writer.write(record, to: &bytes)) }
        writer.finish(&bytes)
    }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    var obstacles: [ExportObstacle?] {
        outcomes.map { outcome in
            if case .leftOut(let obstacle) = outcome { obstacle } else { nil }
        }
    }

    var losses: [[CookieFeature]] {
        outcomes.map { outcome in
            if case .written(let losses) = outcome { losses } else { [] }
        }
    }
}

extension CookieRecord {
    /// A host-only session cookie of a.test, changed by `change`.
    static func sample(_ change: (inout CookieRecord) -> Void = { _ in }) -> CookieRecord {
        var record = CookieRecord(name: "n", value: "v", domain: "a.test", isHostOnly: true)
        change(&record)
        return record
    }

    /// A cookie with every property that one can have.
    static let full = sample { record in
        record.name = "sid"
        record.value = #""a b,c""#
        record.path = "/sub"
        record.isSecure = true
        record.isHTTPOnly = true
        record.sameSite = .strict
        record.expiry = Timestamp(microseconds: 1_795_316_181_500_000)
        record.creation = Timestamp(microseconds: 1_794_000_000_000_001)
        record.lastAccess = Timestamp(seconds: 1_794_500_000)
        record.partitionKey = PartitionKey(topLevelSite: "https://a.test", hasCrossSiteAncestor: false)
    }

    /// A domain cookie without anything else.
    static let plain = sample { record in
        record.name = "theme"
        record.value = "dark"
        record.isHostOnly = false
    }
}
