import TestSupport
import Testing
import WebPrimitives

@testable import HTTPCaching

@Suite("Cache-Control and numbers of seconds")
struct DirectiveTests {
    @Test(
        "delta-seconds are digits, and beyond 2^31 they are 2^31",
        arguments: [
            ("0", 0), ("003600", 3600), ("2147483647", 2_147_483_647), ("2147483648", 2_147_483_648),
            ("2147483649", 2_147_483_648), ("99999999999999999999999999", 2_147_483_648), ("", nil), ("-1", nil),
            ("+1", nil), ("1.0", nil), ("1 ", nil), ("a1", nil), ("1a", nil), ("'1'", nil), ("٣", nil),
        ] as [(Octets, Int64?)])
    func deltaSeconds(text: Octets, seconds: Int64?) {
        #expect(DeltaSeconds.parse(text) == seconds)
    }

    @Test(
        "max-age is one number, as a token or a quoted string",
        arguments: [
            (["max-age=60"], .value(60)), (["MAX-AGE=60"], .value(60)), (["max-age=\"60\""], .value(60)),
            (["max-age=\"6\\0\""], .value(60)), ([" , ,max-age=60,, "], .value(60)),
            (["public,max-age=60"], .value(60)),
            (["x=\"max-age=1\", max-age=60"], .value(60)), (["x=\"\\\", max-age=1\", max-age=60"], .value(60)),
            (["max-age=60", "max-age=60"], .value(60)), (["max-age=60, max-age=060"], .value(60)),
            // Section 4.2.1: more than one value, and invalid values, are stale.
            (["max-age=60, max-age=1"], .invalid), (["max-age=60", "max-age=1"], .invalid), (["max-age"], .invalid),
            (["max-age="], .invalid), (["max-age=-1"], .invalid), (["max-age=1.5"], .invalid),
            (["max-age ='60'"], .invalid), (["max-age =60"], .invalid), (["max-age= 60"], .invalid),
            (["max-age=60 s"], .invalid), (["max-age=60, max-age"], .invalid), (["max-age=\"60"], .invalid),
            (["max-age=\"60\"x"], .invalid), (["max-age=\"\""], .invalid),
            ([], .absent), ([""], .absent), (["max-age-x=60"], .absent), (["x-max-age=60"], .absent),
            (["x=\"max-age=60\""], .absent), (["=60"], .absent), (["\"max-age\"=60"], .absent),
        ] as [([Octets], Seconds)])
    func maximumAge(lines: [Octets], seconds: Seconds) {
        let fields = MessageFields(lines.map { MessageFields.Field("Cache-Control", $0) })
        #expect(ResponseDirectives(fields).maximumAge == seconds)
    }

    private func response(_ value: Octets) -> ResponseDirectives { ResponseDirectives(["cache-control": value]) }

    @Test("A directive that restricts counts with any argument, one that permits without")
    func arguments() {
        #expect(response("no-store=1").hasNoStore && response("No-Store").hasNoStore)
        #expect(response("must-revalidate=x").forbidsStale && response("must-understand=x").needsUnderstanding)
        #expect(response("public").isPublic && !response("public=1").isPublic)
        #expect(response("immutable").isImmutable && !response("immutable=1").isImmutable)
        #expect(response("private").isPrivate && response("private=\"a\"").isPrivate)
        #expect(response("stale-while-revalidate=5").staleWhileRevalidating == 5)
        #expect(response("stale-if-error=x").staleIfError == nil)
    }

    @Test(
        "no-cache with names is for those fields, and otherwise for the response",
        arguments: [
            ("no-cache", true, []), ("no-cache=\"a\"", false, ["a"]), ("no-cache=\"A, b\"", false, ["a", "b"]),
            ("no-cache=a", false, ["a"]), ("no-cache=\"\"", true, []), ("no-cache=\"a b\"", true, []),
            ("no-cache=\"a\", no-cache", true, ["a"]), ("no-cache=\"a\", no-cache=b", false, ["a", "b"]),
            ("no-cache =a", true, []), ("max-age=1", false, []),
        ] as [(Octets, Bool, [Octets])])
    func noCache(value: Octets, needsValidation: Bool, names: [Octets]) {
        let directives = response(value)
        #expect(directives.needsValidation == needsValidation && directives.unvalidatedFields == names)
    }

    @Test("Directives of a request, and Pragma if there are none")
    func requests() {
        let directives = RequestDirectives([
            "Cache-Control": "max-age=1, min-fresh=2, max-stale=3, only-if-cached, no-store, stale-if-error=4"
        ])
        #expect(directives.maximumAge == 1 && directives.minimumFreshness == 2 && directives.staleIfError == 4)
        #expect(directives.allowedStaleness == .seconds(3))
        #expect(directives.forbidsForwarding && directives.forbidsStoring && !directives.needsValidation)
        #expect(RequestDirectives(["Cache-Control": "max-stale"]).allowedStaleness == .any)
        #expect(RequestDirectives(["Cache-Control": "max-stale=x"]).allowedStaleness == .none)
        #expect(RequestDirectives(["Cache-Control": "max-age=x"]).maximumAge == 0)
        #expect(RequestDirectives(["Pragma": "x, No-Cache"]).needsValidation)
        #expect(!RequestDirectives(["Pragma": "no-cache", "Cache-Control": "max-stale"]).needsValidation)
    }

    @Test("A list is read to its end")
    func long() {
        #expect(FieldList.members([Octets(String(repeating: "a,", count: 5000))]).count == 5000)
        #expect(response(Octets(String(repeating: "a,", count: 5000) + "no-store")).hasNoStore)
    }

    @Test(
        "The words of a malformed member restrict, and permit nothing",
        arguments: [
            ("no-store;", "no-store"), ("no-cache no-store", "no-cache no-store"), ("x=\"a, no-store", "no-store"),
            ("max-age=60; no-store", "no-store"), ("No-Cache; max-age=60", "no-cache"),
            ("private no-cache", "no-cache"),
            ("max-age=60 must-revalidate", "must-revalidate"), ("no-cache=\"a, no-store", "no-cache no-store"),
            ("x=\"no-store\" y", ""), ("\"no-store\"", ""), ("x=no-store", ""), ("public;", ""), ("immutable;", ""),
            ("must-understand;", ""),
        ] as [(String, String)])
    func malformed(value: String, expected: String) {
        let directives = response(Octets(value))
        let words = [
            directives.needsValidation ? "no-cache" : nil, directives.hasNoStore ? "no-store" : nil,
            directives.forbidsStale ? "must-revalidate" : nil,
        ]
        #expect(words.compactMap { $0 }.joined(separator: " ") == expected)
        #expect(!directives.isPublic && !directives.isImmutable && !directives.needsUnderstanding)
        let request = RequestDirectives(["Cache-Control": Octets(value)])
        #expect(request.needsValidation == directives.needsValidation)
        #expect(request.forbidsStoring == directives.hasNoStore)
    }

    @Test(
        "Lists are normalized without a change within quotation marks",
        arguments: [
            (["a,b"], "a, b"), (["a", "b"], "a, b"), ([" a ,\tb "], "a, b"), (["\"a,b\" ,c"], "\"a,b\", c"),
            (["a;q=0.5, , b"], "a;q=0.5, , b"), ([""], ""), (["\"a, b"], "\"a, b"), (["a,", "b"], "a, , b"),
        ] as [([Octets], Octets)])
    func normalized(lines: [Octets], value: Octets) {
        #expect(FieldList.normalized(lines) == value)
    }
}
