import FuzzSupport

@testable import HTTPCaching
@testable import WebPrimitives

/// What holds of any field value as an entity tag, a date, a range, or a part of Cache-Status.
enum ValidatorCheck {
    static func check(_ text: Octets) {
        checkEntityTag(text)
        checkDate(text)
        checkRange(text)
        checkContentRange(text)
        checkCacheStatus(text)
    }

    private static func checkEntityTag(_ text: Octets) {
        let condition = EntityTagCondition([text])
        guard let tag = EntityTag(text) else { return }
        let written = Octets(Array((tag.isWeak ? "W/\"" : "\"").utf8) + Array(tag.opaque) + Array("\"".utf8))
        Invariant.holds(written == text, "an entity tag is written as it is read")
        Invariant.holds(
            tag.weaklyMatches(tag) && tag.stronglyMatches(tag) == !tag.isWeak, "a strong tag matches itself")
        Invariant.holds(condition == .tags([tag]), "one tag is a list of one")
        Invariant.holds(
            condition?.matches(tag) == true && condition?.matches(nil) == false, "and meets its own condition")
    }

    private static func checkDate(_ text: Octets) {
        let now = CacheRun.start
        let date = HTTPDate.parse(text, now: now)
        Invariant.holds(HTTPDate.parse(Octets(text.map(\.uppercased)), now: now) == date, "letters have no case")
        guard let date else { return }
        Invariant.holds(HTTPDate.parse(Octets(date.httpDate), now: now) == date, "a date that is written is read again")
        Invariant.holds(date == Timestamp(seconds: date.seconds), "a date is a whole second")
    }

    private static func checkRange(_ text: Octets) {
        guard let range = ByteRange(["Range": text]) else { return }
        let written =
            switch range {
            case .from(let first, let last): "bytes=\(first)-\(last.map(String.init) ?? "")"
            case .last(let count): "bytes=-\(count)"
            }
        Invariant.holds(ByteRange(["Range": Octets(written)]) == range, "a range that is written is read again")
        for length: Int64 in [0, 1, 10, 1 << 40, ByteRange.limit, .max] {
            guard let positions = range.positions(of: length) else { continue }
            Invariant.holds(
                !positions.isEmpty && positions.lowerBound >= 0 && positions.upperBound <= length,
                "a range is one of octets that there are")
        }
    }

    private static func checkContentRange(_ text: Octets) {
        if let total = ContentRange.unsatisfiedTotal(["Content-Range": text]) {
            Invariant.holds((0...ByteRange.limit).contains(total), "a length has a limit")
        }
        guard let range = ContentRange(["Content-Range": text]) else { return }
        Invariant.holds(!range.positions.isEmpty && range.positions.lowerBound >= 0, "a range has octets")
        Invariant.holds(range.total.map { range.positions.upperBound <= $0 } ?? true, "a range is within the whole")
        let written = ContentRange.value(range.positions, of: range.total)
        Invariant.holds(ContentRange(["Content-Range": written]) == range, "what is written is read again")
    }

    private static func checkCacheStatus(_ text: Octets) {
        guard let url = try? RequestURL("https://a.example/") else { return }
        let decision = CachingPolicy().lookup(CacheRequest(url: url), among: [], now: CacheRun.start)
        var status = CacheStatus(decision, cache: text)
        status.detail = text
        status.timeToLive = Int64(text.count)
        status.forwardedStatus = text.count
        status.isStored = text.count % 2 == 0
        guard let members = StructuredField.list([status.value]), members.count == 1, case .item = members[0] else {
            Invariant.holds(false, "Cache-Status has one member, whatever its parts are")
            return
        }
    }
}
