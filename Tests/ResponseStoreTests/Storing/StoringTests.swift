import HTTPCaching
import Testing
import WebPrimitives

@testable import ResponseStore

@Suite("Storing responses")
struct StoringTests {
    static let lengths = [0, 1, 4, 16_383, 16_384, 16_385, 65_535, 65_536, 65_537, 131_072, 200_000]

    @Test("A body of any length comes back, from the index or a file", arguments: lengths)
    func bodies(length: Int) throws {
        let home = CacheHome()
        var sample = Sample()
        sample.body = Sample.octets(length)
        sample.fields = [
            "Cache-Control": "max-age=60", "ETag": "\"a\"", "X-Twice": "1", "X-Twice": "", "Vary": "Accept",
        ]
        sample.requestFields = ["Accept": "text/html"]
        try home.cache().store(sample)
        #expect(home.bodyFiles.count == (length > 16_384 ? 1 : 0))
        // As another process.
        let cache = home.cache()
        let found = try cache.candidates(for: sample)
        #expect(found.count == 1)
        #expect(
            found.first?.response
                == (try sample.response().received(bodyLength: Int64(length), isComplete: true)))
        #expect(try cache.answer(sample) == sample.body)
    }

    @Test(
        "Every range of a body comes back",
        arguments: [
            (0, 1), (1, 3), (65_530, 65_540), (65_536, 65_537), (65_536, 131_072), (131_071, 200_000), (0, 200_000),
            (199_999, 200_000), (100, 100),
        ])
    func ranges(lower: Int64, upper: Int64) throws {
        let home = CacheHome()
        var sample = Sample()
        sample.body = Sample.octets(200_000)
        let cache = home.cache()
        try cache.store(sample)
        let stored = try #require(try cache.candidates(for: sample).first)
        let reader = try #require(cache.body(of: stored, range: lower..<upper))
        #expect(reader.length == upper - lower)
        #expect(try reader.readAll() == Array(sample.body[Int(lower)..<Int(upper)]))
        // A body of unknown length has no end.
        #expect(try cache.body(of: stored, range: lower..<Int64.max)?.readAll() == Array(sample.body[Int(lower)...]))
    }

    @Test("A range may be empty, also at the end", arguments: [0, 1, 16_384, 65_536, 131_072])
    func emptyRanges(length: Int64) throws {
        let home = CacheHome()
        var sample = Sample()
        sample.body = Sample.octets(Int(length))
        let cache = home.cache()
        try cache.store(sample)
        let stored = try #require(try cache.candidates(for: sample).first)
        for range in [0..<0, length..<length, length..<Int64.max, Int64.max..<Int64.max] {
            #expect(try cache.body(of: stored, range: range)?.readAll() == [])
        }
    }

    @Test("The range of a stored part is counted from the beginning of the whole")
    func parts() throws {
        let home = CacheHome()
        var sample = Sample()
        sample.status = 206
        sample.fields = [
            "Cache-Control": "max-age=60", "Content-Range": "bytes 100-199/1000", "ETag": "\"a\"",
        ]
        sample.body = Sample.octets(100)
        let cache = home.cache()
        try cache.store(sample)
        let stored = try #require(try cache.candidates(for: sample).first)
        #expect(stored.response.extent == .part(100..<200, total: 1000))
        #expect(try cache.body(of: stored, range: 110..<120)?.readAll() == Array(sample.body[10..<20]))
        sample.requestFields = ["Range": "bytes=150-159"]
        #expect(try cache.answer(sample) == Array(sample.body[50..<60]))
    }

    @Test("Cookies are not stored")
    func cookies() throws {
        let home = CacheHome()
        let cache = home.cache()
        var sample = Sample()
        sample.fields = ["Cache-Control": "max-age=60", "Set-Cookie": "login=secret", "set-cookie": "a=b"]
        try cache.store(sample)
        #expect(try cache.candidates(for: sample).map { $0.response.fields.has("set-cookie") } == [false])
        // Not even if a caller makes such a response.
        let made = CachedResponse(
            url: try RequestURL(sample.url), status: 200, fields: sample.fields, nominated: NominatedFields(),
            requestTime: CacheHome.start, responseTime: CacheHome.start, extent: .whole(length: nil))
        #expect(try cache.begin(sample, made) == nil)
        let stored = try #require(try cache.candidates(for: sample).first)
        #expect(!cache.update(stored, with: made))
        #expect(try cache.candidates(for: sample).isEmpty)
    }

    @Test("What broke off is stored as a part, and what was abandoned is not stored")
    func incomplete() throws {
        let home = CacheHome()
        let cache = home.cache()
        var sample = Sample()
        sample.body = Sample.octets(70_000)
        sample.fields = ["Cache-Control": "max-age=60", "Content-Length": "100000", "ETag": "\"a\""]
        #expect(try cache.store(sample, isComplete: true) == nil)
        try cache.store(sample, isComplete: false)
        #expect(try cache.candidates(for: sample).first?.response.extent == .part(0..<70_000, total: 100_000))
        cache.removeAll()
        var writer = try cache.begin(sample)
        writer?.append(sample.body)
        #expect(try cache.candidates(for: sample).isEmpty)
        #expect(home.bodyFiles.count == 1)
        writer = nil
        #expect(home.bodyFiles.isEmpty)
        #expect(try cache.candidates(for: sample).isEmpty)
    }

    @Test("What is too large is not stored")
    func limits() throws {
        let home = CacheHome()
        let cache = home.cache {
            $0.bodySize = 100_000
            $0.headSize = 1000
            $0.groups = 2
        }
        var sample = Sample()
        sample.body = Sample.octets(100_001)
        #expect(try cache.store(sample) == nil)
        sample.fields = ["Cache-Control": "max-age=60", "Content-Length": "100001"]
        #expect(try cache.begin(sample) == nil)
        sample.body = []
        sample.fields = ["Cache-Control": "max-age=60", "X": Octets(Sample.octets(1000).map { $0 % 26 + 97 })]
        // It is known before the body comes, so nobody announces that it is being stored.
        #expect(try cache.begin(sample) == nil)
        sample.fields = ["Cache-Control": "max-age=60", "Cache-Groups": "\"a\", \"b\", \"c\""]
        #expect(try cache.begin(sample) == nil)
        sample.fields = ["Cache-Control": "max-age=60", "Cache-Groups": "\"a\", \"b\""]
        #expect(try cache.store(sample) != nil)
        #expect(home.bodyFiles.isEmpty)
    }

    @Test("A validated response replaces the stored head and keeps the body, unless it was invalidated meanwhile")
    func updates() throws {
        let home = CacheHome()
        let cache = home.cache()
        var sample = Sample()
        sample.body = Sample.octets(20_000)
        sample.fields = ["Cache-Control": "max-age=60", "ETag": "\"a\""]
        try cache.store(sample)
        let later = CacheHome.start.advanced(bySeconds: 100)
        #expect(try cache.answer(sample, now: later) == nil)
        let found = try cache.candidates(for: sample, now: later)
        let freshened = try #require(try freshened(found, sample, now: later).first)
        #expect(cache.update(found[0], with: freshened))
        #expect(try cache.answer(sample, now: later) == sample.body)
        #expect(cache.all().map(\.size) == [cache.usage().size])
        #expect(cache.usage().size > found[0].size + 1000)
        // It was changed since it was found.
        #expect(!cache.update(found[0], with: freshened))
        let again = try cache.candidates(for: sample, now: later)
        try cache.invalidate(sample)
        #expect(!cache.update(again[0], with: freshened))
        #expect(try cache.candidates(for: sample, now: later).map(\.response.isInvalid) == [true])
        cache.removeAll()
        #expect(!cache.update(again[0], with: freshened))
        #expect(cache.all().isEmpty)
    }

    @Test(
        "A validation that was requested before an invalidation does not undo it", arguments: [(5, true), (11, false)])
    func earlyValidation(requested: Int64, isInvalid: Bool) throws {
        func time(_ seconds: Int64) -> Timestamp { CacheHome.start.advanced(bySeconds: seconds) }
        let home = CacheHome()
        let cache = home.cache()
        var sample = Sample()
        sample.fields = ["Cache-Control": "max-age=60", "ETag": "\"a\""]
        try cache.store(sample)
        try cache.invalidate(sample, now: time(10))
        let found = try cache.candidates(for: sample, now: time(20))
        let update = try #require(try freshened(found, sample, requested: time(requested), now: time(20)).first)
        #expect(cache.update(found[0], with: update))
        let updated = try home.cache().candidates(for: sample, now: time(20))
        #expect(updated.map(\.response) == [update])
        #expect(updated.map(\.response.isInvalid) == [isInvalid])
    }

    /// The stored responses as a 304 response freshens them.
    private func freshened(
        _ found: [StoredResponse], _ sample: Sample, requested: Timestamp? = nil, now: Timestamp
    ) throws -> [CachedResponse] {
        let (policy, stored) = (CachingPolicy(), found.map(\.response))
        let decision = policy.lookup(try sample.request, among: stored, now: now)
        let fields: MessageFields = ["ETag": "\"a\"", "X": Octets([UInt8](repeating: 0x78, count: 1000))]
        let response = OriginResponse(
            status: 304, fields: fields, requestTime: requested ?? now, responseTime: now)
        let outcome = policy.validated(by: response, after: decision, for: try sample.request, stored: stored)
        guard case .freshened(_, _, let updates, _) = outcome else { return [] }
        return Array(updates.values)
    }

    @Test("A response from the future has to be validated, so that a wrong clock does not keep it fresh for ever")
    func clock() throws {
        let home = CacheHome()
        let cache = home.cache()
        let sample = Sample()
        try cache.store(sample, now: CacheHome.start.advanced(bySeconds: 10 * 365 * 86_400))
        #expect(try cache.candidates(for: sample).map(\.response.isInvalid) == [true])
        #expect(try cache.answer(sample) == nil)
        try cache.store(sample, now: CacheHome.start.advanced(bySeconds: 30))
        #expect(try cache.answer(sample) == sample.body)
    }
}
