import CookieModel
import Foundation
import Testing

@testable import Captures

@Suite("Round trips")
struct RoundTripTests {
    private static let seeds = Array<UInt64>(1...20)

    @Test("A round trip through JSON lines loses no property of any cookie", arguments: seeds)
    func json(seed: UInt64) {
        var random = RandomRecords(seed: seed)
        let records = (0..<100).map { _ in random.next(isTame: false) }
        let written = Written(records, as: .json)
        #expect(written.outcomes.allSatisfy { $0 == .written(losses: []) })
        let capture = Capture(bytes: written.bytes)
        #expect(capture.cookies == records)
        #expect(capture.failures.isEmpty)
    }

    @Test(
        "A round trip through another format loses the properties in its table, and nothing else",
        arguments: ExportFormat.allCases.filter { $0 != .json }, seeds)
    func losses(format: ExportFormat, seed: UInt64) throws {
        var random = RandomRecords(seed: seed)
        // A file for one host has one host's cookies only.
        let records = (0..<100).map { _ in random.next(isTame: true) }
            .filter { format.scope == .anySite || $0.domain == "a.test" && ($0.isHostOnly || $0.partitionKey == nil) }
        let written = Written(records, as: format, host: "a.test")
        #expect(written.obstacles.allSatisfy { $0 == nil })
        let back = try WrittenCookies(written.bytes, format).records
        try #require(back.count == records.count)
        for (found, (record, losses)) in zip(back, zip(records, written.losses)) {
            #expect(found == expected(record, format, losing: Set(losses)))
        }
    }

    @Test("Cookies that hardly any format can hold are read back as they were written", arguments: seeds)
    func wild(seed: UInt64) throws {
        for format in [ExportFormat.netscape, .storageState, .har, .httpieSession] {
            var random = RandomRecords(seed: seed)
            let records = (0..<100).map { _ in random.next(isTame: false) }
            let written = Written(records, as: format)
            let held = zip(records, zip(written.obstacles, written.losses)).filter { $0.1.0 == nil }
            let back = try WrittenCookies(written.bytes, format).records
            try #require(back.count == held.count, "\(format)")
            for (found, (record, outcome)) in zip(back, held) {
                #expect(found == expected(record, format, losing: Set(outcome.1)), "\(format)")
            }
        }
    }

    /// What is left of a cookie without these properties.
    private func expected(
        _ record: CookieRecord, _ format: ExportFormat, losing losses: Set<CookieFeature>
    ) -> CookieRecord {
        var record = record
        for loss in losses {
            switch loss {
            case .domain: record.domain = ""
            case .hostOnly: record.isHostOnly = false
            case .path: record.path = "/"
            case .secure: record.isSecure = false
            case .httpOnly: record.isHTTPOnly = false
            case .sameSite: record.sameSite = .default
            case .expiry: record.expiry = nil
            case .exactExpiry: record.expiry = record.expiry.map(format.capabilities.writtenExpiry)
            case .partition: record.partitionKey = nil
            case .creation: record.creation = nil
            case .lastAccess: record.lastAccess = nil
            }
        }
        // A header says nothing about an address either.
        if losses.contains(.domain) { record.isHostOnly = false }
        return record
    }
}
