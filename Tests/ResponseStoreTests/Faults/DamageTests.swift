import Foundation
import HTTPCaching
import SQLiteEngine
import StoreEngine
import Testing
import WebPrimitives

@testable import ResponseStore

@Suite("Damaged caches")
struct DamageTests {
    /// Changes octets of a file, in place.
    private func change(_ path: String, _ body: (inout Data) -> Void) throws {
        var contents = try Data(contentsOf: URL(filePath: path))
        body(&contents)
        try contents.write(to: URL(filePath: path))
    }

    private func sample(_ length: Int, path: String = "/a", seed: Int = 0) -> Sample {
        var sample = Sample()
        sample.url = "https://shop.example\(path)"
        sample.body = Sample.octets(length, seed: seed)
        return sample
    }

    @Test("A changed octet anywhere in a body's file is a miss that removes the response")
    func everyOctetOfAFile() throws {
        let home = CacheHome()
        let cache = home.cache { $0.inlineSize = 0 }
        let sample = sample(50)
        for position in 0..<(50 + BodySeal.tagLength) {
            try cache.store(sample)
            let file = try #require(home.bodyFiles.first)
            try change(file) { $0[position] ^= 1 << (position % 8) }
            #expect(try cache.answer(sample) == nil)
            #expect(try cache.candidates(for: sample).isEmpty)
            #expect(home.bodyFiles.isEmpty)
        }
    }

    @Test("A changed octet anywhere in a row is a miss that removes the response", arguments: ["head", "octets"])
    func everyOctetOfARow(column: String) throws {
        let home = CacheHome()
        let cache = home.cache()
        let sample = sample(50)
        let table = column == "head" ? "response" : "body"
        var position = 0
        while true {
            cache.removeResponses(ofJar: sample.jar)
            try cache.store(sample)
            let isChanged = cache.write { writer in
                var octets = try #require(
                    try writer.connection.rows("SELECT \(column) FROM \(table)", []) { $0.bytes(0) }.first)
                guard position < octets.count else { return false }
                octets[position] ^= 1 << (position % 8)
                let statement = try writer.connection.statement("UPDATE \(table) SET \(column) = ?")
                statement.bind(1, octets)
                try statement.run()
                return true
            }
            guard isChanged == true else { break }
            // The octets of the key's ID name a key that is gone.
            #expect(try cache.answer(sample) == nil, "\(position)")
            #expect(try cache.candidates(for: sample).isEmpty, "\(position)")
            #expect(cache.usage().entries == 0, "\(position)")
            position += 1
        }
        #expect(position > 60)
    }

    private static let digests: Set = ["jar", "origin", "site", "path", "query", "audience"]

    @Test(
        "A changed number in a row hides the response, or changes nothing that matters",
        arguments: [
            "jar", "origin", "site", "path", "query", "audience", "key_id", "file", "size", "used", "stored",
            "generation", "invalidated",
        ])
    func numbers(column: String) throws {
        let home = CacheHome()
        let cache = home.cache()
        let sample = sample(20_000)
        try cache.store(sample)
        for number in ["1", "-1", "0", "NULL", "9223372036854775807", "-9223372036854775808"] {
            // The other columns may not be NULL.
            guard number != "NULL" || column == "file" || column == "invalidated" else { continue }
            _ = cache.write { try $0.connection.run("UPDATE response SET \(column) = \(number)") }
            let answer = try cache.answer(sample)
            #expect(answer == nil || answer == sample.body && !DamageTests.digests.contains(column))
            _ = cache.all()
            cache.maintain(now: CacheHome.start)
            try cache.store(sample)
            #expect(try cache.answer(sample) == sample.body)
        }
    }

    @Test(
        "Sums that are wrong are added up again", arguments: ["-1000000000000", "4611686018427387904", "1000000000000"])
    func sums(size: String) throws {
        let home = CacheHome()
        let cache = home.cache()
        for path in ["/1", "/2", "/3"] { try cache.store(sample(20_000, path: path)) }
        _ = cache.write { try $0.connection.run("UPDATE usage SET size = \(size)") }
        for path in ["/4", "/5"] { try cache.store(sample(20_000, path: path)) }
        try cache.store(sample(100, path: "/6"))
        try cache.store(sample(100, path: "/7"))
        #expect(cache.usage().size == cache.all().map(\.size).reduce(0, +))
        #expect(cache.usage().entries == Int64(cache.all().count))
        #expect(try cache.answer(sample(100, path: "/7")) == sample(100).body)
    }

    @Test("A file of any other length is a miss", arguments: [0, 1, 65_551, 65_552, 65_553, 131_104, 200_064, 200_065])
    func lengths(length: Int) throws {
        let home = CacheHome()
        let cache = home.cache()
        let sample = sample(200_000)
        try cache.store(sample)
        try change(try #require(home.bodyFiles.first)) { contents in
            contents = contents.prefix(length) + Data(count: max(0, length - contents.count))
        }
        // Four chunks.
        #expect(try cache.answer(sample) == (length == 200_064 ? sample.body : nil))
        #expect(try cache.candidates(for: sample).count == (length == 200_064 ? 1 : 0))
    }

    @Test("Damage after the first chunk is found while reading, and removes the response", arguments: [0, 1, 2])
    func swappedChunks(first: Int) throws {
        let home = CacheHome()
        let cache = home.cache()
        let sample = sample(4 * 65_536)
        try cache.store(sample)
        let stride = 65_552
        try change(try #require(home.bodyFiles.first)) { contents in
            let (left, right) = (first * stride, (first + 1) * stride)
            let octets = Data(contents)
            contents.replaceSubrange(left..<right, with: octets[right..<(right + stride)])
            contents.replaceSubrange(right..<(right + stride), with: octets[left..<right])
        }
        let stored = try #require(try cache.candidates(for: sample).first)
        guard let reader = cache.body(of: stored) else {
            #expect(first == 0)
            #expect(cache.all().isEmpty)
            return
        }
        for chunk in 0..<first {
            #expect(try reader.next() == Array(sample.body[(chunk * 65_536)..<((chunk + 1) * 65_536)]))
        }
        #expect(throws: StoredBody.Damage.self) { try reader.next() }
        #expect(cache.all().isEmpty)
        #expect(home.bodyFiles.isEmpty)
    }

    @Test("Files and rows that were exchanged do not open", arguments: ["file", "head", "body", "both"])
    func exchanged(what: String) throws {
        let home = CacheHome()
        let cache = home.cache()
        let length = what == "file" ? 20_000 : 100
        let samples = [sample(length, path: "/1", seed: 1), sample(length, path: "/2", seed: 2)]
        let ids = try samples.map { try #require(try cache.store($0)) }
        func swap(_ column: String, _ table: String, _ id: String) -> String {
            """
            WITH copy AS MATERIALIZED (SELECT \(id) AS id, \(column) AS value FROM \(table))
            UPDATE \(table) SET \(column) = copy.value FROM copy WHERE copy.id <> \(table).\(id)
            """
        }
        let swaps = [
            "file": [swap("file", "response", "id")], "head": [swap("head", "response", "id")],
            "body": [swap("octets", "body", "response")],
        ]
        _ = cache.write { writer in
            for sql in swaps[what] ?? (swaps["head"] ?? []) + (swaps["body"] ?? []) { try writer.connection.run(sql) }
        }
        for sample in samples { #expect(try cache.answer(sample) == nil) }
        #expect(cache.all().isEmpty)
        #expect(ids.count == 2)
    }

    @Test("A chunk opens only under its key, at its place, and as the last one or not")
    func chunks() throws {
        let seal = BodySeal().withLength(2 * 65_536)
        let chunk = Sample.octets(65_536)
        for (number, isLast, opens) in [(0, false, 0), (1, true, 1), (0, true, nil), (1, false, nil)]
            as [(Int64, Bool, Int64?)]
        {
            let sealed = try seal.seal(chunk, number: number, isLast: isLast)
            for place: Int64 in 0..<2 {
                #expect(seal.open(sealed[...], number: place) == (place == opens ? chunk : nil))
            }
            #expect(BodySeal().withLength(2 * 65_536).open(sealed[...], number: number) == nil)
        }
    }

    @Test("A missing file is a miss that removes the response, and a reader keeps its file")
    func missingFile() throws {
        let home = CacheHome()
        let cache = home.cache()
        let sample = sample(200_000)
        try cache.store(sample)
        let stored = try #require(try cache.candidates(for: sample).first)
        let reader = try #require(cache.body(of: stored))
        cache.remove(id: stored.id)
        #expect(home.bodyFiles.isEmpty)
        #expect(try reader.readAll() == sample.body)
        #expect(cache.body(of: stored) == nil)
        try cache.store(sample)
        try FileManager.default.removeItem(atPath: try #require(home.bodyFiles.first))
        #expect(try cache.answer(sample) == nil)
        #expect(cache.all().isEmpty)
    }

    @Test("A damaged index is replaced", arguments: [0, 20, 100, 4096, 20_000])
    func index(position: Int) throws {
        let home = CacheHome()
        try home.cache().store(sample(100))
        try change(home.folder.index) { contents in
            for index in position..<contents.count { contents[index] = UInt8(truncatingIfNeeded: index &* 7) }
        }
        let cache = home.cache()
        _ = try cache.answer(sample(100))
        cache.maintain(now: CacheHome.start)
        // The first call may have found the damage: then nothing is opened for a second.
        var isStored = false
        for _ in 0..<30 where !isStored {
            isStored = try cache.store(sample(100)) != nil && cache.answer(sample(100)) == sample(100).body
            if !isStored { Thread.sleep(forTimeInterval: 0.1) }
        }
        #expect(isStored, "\(String(describing: cache.lastFailure))")
    }

    @Test("Any octets are a head or not, and never a failure")
    func heads() throws {
        let response = try Sample().response().invalidated(at: CacheHome.start)
        let head = StoredHead(
            jar: "j", audience: "a", site: "s", response: response, body: BodySeal().withLength(4))
        let octets = head.octets
        #expect(StoredHead(Octets(octets))?.octets == octets)
        #expect(StoredHead(Octets(octets))?.response.invalidatedAt == CacheHome.start)
        for end in octets.indices { #expect(StoredHead(Octets(octets, in: 0..<end)) == nil) }
        for position in octets.indices {
            for value: UInt8 in [0, 1, 0x7F, 0x80, 0xFF] {
                var changed = octets
                changed[position] = value
                _ = StoredHead(Octets(changed))
            }
        }
    }
}
