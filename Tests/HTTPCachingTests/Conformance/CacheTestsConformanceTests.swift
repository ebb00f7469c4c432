import Testing

@Suite(
    "The suite http-tests/cache-tests",
    .enabled(if: CacheTest.exists, "shared/conformance is not beside the package"))
struct CacheTestsConformanceTests {
    @Test("Every test passes, except for the departures with a reason")
    func tests() throws {
        let tests = try CacheTest.all()
        #expect(tests.count == 341)
        for test in tests {
            let failure = CacheTestRun.failure(of: test)
            if let failure { print("MISS", test.kind.rawValue, test.id, failure.description) }
        }
    }
}
