import TestSupport
import Testing
import WebPrimitives

@testable import HTTPCaching

@Suite("Random field values")
struct RandomFieldTests {
    private static func octets(_ random: inout SeededGenerator, _ alphabet: [UInt8], upTo count: Int) -> Octets {
        Octets(
            (0..<random.below(count)).map { _ in random.once(in: 20) ? UInt8(random.below(256)) : random.pick(alphabet)
            })
    }

    @Test("No parser traps, and what it reads is bounded by its input")
    func parsers() throws {
        var random = SeededGenerator(seed: 20)
        let alphabet = Array("a=1,; \t\"\\W/*-()?:@%bytes019max-ge. GMT".utf8)
        for _ in 0..<30_000 {
            let text = Self.octets(&random, alphabet, upTo: 30)
            let fields = MessageFields([
                .init("cache-control", text), .init("range", text), .init("content-range", text),
            ])
            _ = ResponseDirectives(fields)
            _ = RequestDirectives(fields)
            #expect(FieldList.members([text]).reduce(0) { $0 + $1.count } <= text.count)
            if let unquoted = FieldList.unquoted(text) { #expect(unquoted.count + 2 <= text.count) }
            _ = EntityTagCondition([text])
            if let tag = EntityTag(text) { #expect(tag.opaque.count + (tag.isWeak ? 4 : 2) == text.count) }
            if let range = ByteRange(fields), let positions = range.positions(of: 100) {
                #expect(positions.upperBound <= 100 && !positions.isEmpty)
            }
            _ = ContentRange(fields)
            _ = StructuredField.list([text])
            _ = StructuredField.dictionary([text])
            _ = HTTPDate.parse(text, now: Sample.start)
            _ = HashedFileName.isHashed(text)
            _ = try? CachingRules(table: String(decoding: text, as: UTF8.self))
        }
    }

    @Test("A normalized list stays as it is")
    func normalized() {
        var random = SeededGenerator(seed: 21)
        let alphabet = Array("ab, \t\"\\".utf8)
        for _ in 0..<20_000 {
            let once = FieldList.normalized([Self.octets(&random, alphabet, upTo: 16)])
            #expect(FieldList.normalized([once]) == once)
        }
    }

    @Test("Equivalence of URLs is symmetric and transitive, and includes equality")
    func equivalence() throws {
        var random = SeededGenerator(seed: 22)
        let fields: [Octets] = [
            "key-order", "params=(\"a\")", "except=(\"a\" \"b\"), key-order", "params=(\"b\"), key-order",
        ]
        var pairs = 0
        for _ in 0..<5_000 {
            let variation = URLVariation(["No-Vary-Search": random.pick(fields)])
            let urls = try (0..<3).map { _ in
                let query = Self.octets(&random, Array("ab=&%41+".utf8), upTo: 8)
                return try RequestURL(
                    Octets(Array("https://shop.example/?".utf8) + query.filter { $0 != ASCII.numberSign }))
            }
            #expect(variation.areEquivalent(urls[0], urls[0]))
            #expect(variation.areEquivalent(urls[0], urls[1]) == variation.areEquivalent(urls[1], urls[0]))
            if variation.areEquivalent(urls[0], urls[1]), urls[0].query != urls[1].query { pairs += 1 }
            if variation.areEquivalent(urls[0], urls[1]), variation.areEquivalent(urls[1], urls[2]) {
                #expect(variation.areEquivalent(urls[0], urls[2]))
            }
        }
        #expect(pairs > 100)
    }

    @Test("What was stored answers the same request again while it is fresh")
    func reuse() throws {
        var random = SeededGenerator(seed: 23)
        var count = 0
        for _ in 0..<20_000 {
            var request = TwinMessage.request(&random)
            let unwanted = ["Cache-Control", "Pragma", "If-Match", "If-None-Match", "Range"]
            request.fields.removeAll { unwanted.contains($0.name) }
            let response = TwinMessage.response(&random)
            guard response.status != 206 else { continue }
            let policy = CachingPolicy()
            guard let stored = policy.storing(response.originResponse, for: try request.cacheRequest()).response else {
                continue
            }
            let now = Sample.after(Int64(response.responseTime))
            let decision = policy.lookup(try request.cacheRequest(), among: [stored], now: now)
            #expect(decision.choice?.index == 0)
            guard policy.freshness(of: stored, now: now).isFresh, !stored.directives.needsValidation else { continue }
            count += 1
            guard case .hit(let answer) = decision.outcome else {
                Issue.record("\(request) \(response) \(decision)")
                return
            }
            #expect(answer.status == response.status && !answer.fields.has("set-cookie") && answer.fields.has("age"))
        }
        #expect(count > 1000)
    }
}
