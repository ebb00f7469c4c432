import FuzzSupport

@testable import HTTPCaching
@testable import WebPrimitives

/// What holds of any Cache-Control field, and of the freshness that follows from it.
enum DirectiveCheck {
    static func check(_ text: Octets) {
        checkCase(text)
        checkRestrictions(text)
        checkFreshness(text)
    }

    private static func flags(_ text: Octets) -> [Bool] {
        let response = ResponseDirectives(["Cache-Control": text])
        let request = RequestDirectives(["Cache-Control": text])
        return [
            response.hasNoStore, response.needsValidation, response.isPrivate, response.isPublic, response.forbidsStale,
            response.forbidsStaleIfShared, response.needsUnderstanding, response.isImmutable,
            response.maximumAge == .absent, response.maximumAge == .invalid, request.needsValidation,
            request.forbidsStoring, request.forbidsForwarding,
        ]
    }

    private static func checkCase(_ text: Octets) {
        Invariant.holds(flags(Octets(text.map(\.uppercased))) == flags(text), "directives have no case")
        let values = [ResponseDirectives(["Cache-Control": text]).maximumAge.value ?? 0]
        Invariant.holds(values.allSatisfy { (0...DeltaSeconds.limit).contains($0) }, "seconds have a limit")
    }

    /// A member that is plainly there is never overlooked, whatever surrounds it.
    private static func checkRestrictions(_ text: Octets) {
        guard !text.contains(UInt8(ascii: "\"")) else { return }
        let names = text.split(separator: UInt8(ascii: ",")).map { Octets($0.trimmed.map(\.lowercased)) }
        let directives = ResponseDirectives(["Cache-Control": text])
        if names.contains("no-store") { Invariant.holds(directives.hasNoStore, "no-store counts") }
        if names.contains("no-cache") { Invariant.holds(directives.needsValidation, "no-cache counts") }
        if names.contains("must-revalidate") { Invariant.holds(directives.forbidsStale, "must-revalidate counts") }
        for value: Octets in ["no-store", "x;no-store", "no-store=\"x\""] {
            let fields = MessageFields([.init("Cache-Control", text), .init("cache-control", value)])
            Invariant.holds(ResponseDirectives(fields).hasNoStore, "no-store of another line counts")
        }
    }

    private static let times: [Int64] = [
        .min, -86_400, -1, 0, 1, 59, 61, 3600, 1 << 31, 1 << 40, .max,
    ]

    /// The field as Age, Expires, Date, Last-Modified and max-age, at any time.
    private static func checkFreshness(_ text: Octets) {
        guard let url = try? RequestURL("https://a.example/") else { return }
        let policy = CachingPolicy()
        let heads: [MessageFields] = [
            ["Cache-Control": text], ["Age": text, "Cache-Control": "max-age=60"], ["Expires": text], ["Date": text],
            ["Expires": text, "Date": "Sat, 21 Nov 2026 00:00:00 GMT"], ["Last-Modified": text],
        ]
        for fields in heads {
            for received in [Int64.min, CacheRun.start.seconds, .max] {
                let stored = CachedResponse(
                    url: url, status: 200, fields: fields, nominated: NominatedFields(),
                    requestTime: Timestamp(seconds: received), responseTime: Timestamp(seconds: received),
                    extent: .whole(length: 0))
                for time in times {
                    let now = Timestamp(seconds: received).advanced(bySeconds: time)
                    let freshness = policy.freshness(of: stored, now: now)
                    Invariant.holds((0...DeltaSeconds.limit).contains(freshness.lifetime), "a lifetime has a limit")
                    Invariant.holds((0...2 * DeltaSeconds.limit).contains(freshness.age), "an age has a limit")
                    Invariant.holds(freshness.isFresh == (freshness.timeToLive > 0), "what is fresh has time left")
                }
            }
        }
    }
}
