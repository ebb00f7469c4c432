import HTTPCaching
import Testing

/// The suite is for shared caches, too, and its README says that passing everything is not the aim.
@Suite(
    "The suite http-tests/cache-tests",
    .enabled(if: CacheTest.exists, "shared/conformance is not beside the package"))
struct CacheTestsConformanceTests {
    /// The required and optimal tests that fail, and why they are meant to.
    private static let departures: [String: String] = [
        // Required.
        "freshness-s-maxage-shared": "s-maxage is for shared caches",
        "freshness-max-age-s-maxage-shared-longer": "s-maxage is for shared caches",
        "freshness-max-age-s-maxage-shared-longer-reversed": "s-maxage is for shared caches",
        "freshness-max-age-s-maxage-shared-longer-multiple": "s-maxage is for shared caches",
        "cc-resp-private-shared": "a private cache stores private responses",
        "other-authorization": "a private cache serves one user",
        "headers-store-Set-Cookie": "cookies are the jar's",
        // Optimal.
        "freshness-max-age-s-maxage-shared-shorter": "s-maxage is for shared caches",
        "freshness-max-age-s-maxage-shared-shorter-expires": "s-maxage is for shared caches",
        "other-authorization-smaxage": "s-maxage is for shared caches",
        "conditional-lm-fresh-no-lm":
            "Date, which stands for Last-Modified (section 4.3.2), is later than If-Modified-Since",
        "vary-normalise-lang-order": "servers follow the order of languages, which people set",
        "vary-normalise-lang-select": "the cache does not negotiate",
        "partial-store-partial-complete": "parts are combined by a strong validator only, and there is none",
        "partial-store-partial-reuse-partial": "the body has 5 octets, and Content-Range says 6",
        "partial-store-partial-reuse-partial-byterange": "the body has 5 octets, and Content-Range says 6",
        "partial-store-partial-reuse-partial-absent": "the body has 5 octets, and Content-Range says 6",
        "partial-store-partial-reuse-partial-suffix": "the body has 5 octets, and Content-Range says 6",
    ]

    @Test(
        "Every required and optimal test passes, except for the departures, with and without the built-in rules",
        arguments: [CachingRules.protocolOnly, .standard])
    func tests(rules: CachingRules) throws {
        let tests = try CacheTest.all().filter { $0.kind != .check }
        var passed: [CacheTest.Kind: Int] = [:]
        var applied: Set<String> = []
        for test in tests {
            let (failure, rules) = CacheTestRun.run(test, by: rules)
            applied.formUnion(rules)
            if failure == nil { passed[test.kind, default: 0] += 1 }
            #expect(
                (failure == nil) == (Self.departures[test.id] == nil), "\(test.id): \(failure?.description ?? "passes")"
            )
        }
        #expect(passed == [.required: 143, .optimal: 87])
        #expect(applied == ["protocol"])
        #expect(Set(Self.departures.keys).isSubset(of: tests.map(\.id)))
    }

    /// The tests of the suite whose stale response is used by the rule for static resources, with each file name.
    private static let servedStale: Set<String> = [
        "freshness-max-age-stale", "freshness-max-age-age", "freshness-max-age-ignore-quoted",
        "freshness-max-age-ignore-quoted-rev", "freshness-expires-age-slow-date", "freshness-expires-age-fast-date",
        "age-parse-suffix", "age-parse-suffix-twoline", "stale-close-proxy-revalidate", "stale-close-s-maxage=2",
        "304-etag-update-response-Test-Header", "304-etag-update-response-X-Test-Header",
        "304-etag-update-response-Content-Foo", "304-etag-update-response-X-Content-Foo",
        "304-etag-update-response-Cache-Control",
        // These want a stale response.
        "freshness-s-maxage-shared", "freshness-max-age-s-maxage-shared-shorter", "other-authorization-smaxage",
    ]

    @Test(
        "Of static resources, only those tests come out otherwise that forbid a stale response, or want one",
        arguments: [
            ("a.css", "static", []),
            ("a-8e0d62a0.css", "hashed-name", ["age-parse-large", "age-parse-large-minus-one", "age-parse-larger"]),
        ] as [(String, String, Set<String>)])
    func staticResources(fileName: String, rule: String, others: Set<String>) throws {
        var different: Set<String> = []
        var count = 0
        for test in try CacheTest.all() where test.kind != .check {
            let (failure, rules) = CacheTestRun.run(test, by: .standard, fileName: fileName)
            if (failure == nil) != (Self.departures[test.id] == nil) { different.insert(test.id) }
            if rules.contains(rule) { count += 1 }
        }
        #expect(different == Self.servedStale.union(others))
        #expect(count > 30)
    }

    /// The questions of the suite to which the answer is no. None has a right answer.
    private static let negations: Set<String> = [
        // Invalid entity tags are no validators.
        "conditional-etag-quoted-respond-unquoted", "conditional-etag-unquoted-respond-unquoted",
        "conditional-etag-unquoted-respond-quoted", "conditional-etag-weak-respond-lowercase",
        "conditional-etag-weak-respond-backslash", "conditional-etag-weak-respond-omit-slash",
        "conditional-etag-strong-generate-unquoted", "conditional-etag-forward-unquoted",
        "conditional-etag-vary-headers-mismatch",
        // Invalid and contradictory max-age is stale, and invalid Age is ignored.
        "freshness-max-age-two-fresh-stale-sameline", "freshness-max-age-two-fresh-stale-sepline",
        "freshness-max-age-two-stale-fresh-sameline", "freshness-max-age-two-stale-fresh-sepline",
        "freshness-max-age-decimal-zero", "freshness-max-age-decimal-five", "freshness-max-age-a100",
        "freshness-max-age-100a", "age-parse-parameter", "age-parse-numeric-parameter",
        // A stale response answers only if something permits it.
        "stale-close", "stale-503", "stale-warning-stored", "stale-warning-become",
        // A tenth of so short a time is less than the pause.
        "heuristic-delta-5", "heuristic-delta-10", "heuristic-delta-30", "pragma-response-no-cache-heuristic",
        // no-store of a request does not apply to a stored response.
        "ccreq-no-store",
        // The stored octets depend on these fields, or they are never stored.
        "304-etag-update-response-Content-Encoding", "304-etag-update-response-Content-Range",
        "304-etag-update-response-Set-Cookie",
        // A 304 with another entity tag means another representation.
        "304-etag-update-response-ETag",
        // A HEAD response is forwarded as it is. Only one with status 200 updates.
        "head-200-retain", "head-410-update",
        // A forwarded response gets no Age.
        "other-age-delay",
    ]

    @Test("The questions have the answers that follow from the rules")
    func questions() throws {
        let tests = try CacheTest.all().filter { $0.kind == .check }
        #expect(tests.count == 93)
        for test in tests {
            let failure = CacheTestRun.failure(of: test)
            #expect(
                (failure != nil) == Self.negations.contains(test.id), "\(test.id): \(failure?.description ?? "yes")")
        }
    }
}
