import CookieModel
import FuzzSupport

/// What an input means to the store: a script of steps, readable enough to be written by hand.
///
/// The first byte chooses the policy. What follows is lines: the first byte says what happens, the two next ones where,
/// and the rest is the field value, the record or the time. Every byte means something, so that no input is wasted.
struct StoreScript {
    /// One thing that happens.
    enum Step {
        /// A response arrives with one field value.
        case receive(Octets, RequestContext)
        /// A cookie comes out of another store.
        case take(CookieRecord)
        /// A request goes out.
        case send(RequestContext)
        /// Time passes, or the clock is set back.
        case advance(seconds: Int64)
        /// The browser quits.
        case endSession
    }

    private static let stepLimit = 32
    private static let durations: [Int64] = [
        0, 1, 59, 120, 3600, 86_400, 34_560_000, 34_560_001, -1, -86_400, .max, .min,
    ]

    let policy: CookiePolicy
    let steps: [Step]

    init(_ input: [UInt8]) {
        policy = StoreScript.policy(input.first ?? 0)
        steps = input.dropFirst().split(separator: UInt8(ascii: "\n")).prefix(StoreScript.stepLimit)
            .compactMap(StoreScript.step)
    }

    /// `0` is the policy of the draft; each of the low bits of the byte turns one thing.
    private static func policy(_ byte: UInt8) -> CookiePolicy {
        var policy = CookiePolicy(profile: byte & 1 != 0 ? .browser : .rfc6265bis)
        if byte & 2 != 0 { policy.secureConnections = .cryptographic }
        if byte & 4 != 0 { policy.laxAllowingUnsafeAge = 120 }
        if byte & 8 != 0 { policy.considersRedirectChain = true }
        if byte & 64 != 0 { policy.limits.domainCookies = 2 }
        if byte & 128 != 0 { policy.limits.totalCookies = 3 }
        return policy
    }

    private static func step(_ line: ArraySlice<UInt8>) -> Step? {
        guard let kind = line.first else { return nil }
        let place = line.dropFirst().prefix(2)
        let rest = line.dropFirst(3)
        let context = Places.context(url: place.first ?? 0, access: place.dropFirst().first ?? 0)
        switch kind {
        case UInt8(ascii: "<"): return context.map { .receive(Octets(Array(rest)), $0) }
        case UInt8(ascii: ">"): return context.map { .send($0) }
        case UInt8(ascii: "="): return .take(record(Array(rest), flags: place.first ?? 0))
        case UInt8(ascii: "+"): return .advance(seconds: durations[Int(place.first ?? 0) % durations.count])
        case UInt8(ascii: "!"): return .endSession
        // Whatever else a mutation makes of it: to receive is what leads furthest.
        default: return context.map { .receive(Octets(Array(rest)), $0) }
        }
    }

    /// `name|value|domain|path`, as another program's file might have it: nothing in it need be right.
    private static func record(_ text: [UInt8], flags: UInt8) -> CookieRecord {
        let parts = text.split(separator: UInt8(ascii: "|"), omittingEmptySubsequences: false).map(Array.init)
        func part(_ index: Int) -> [UInt8] { index < parts.count ? parts[index] : [] }
        return CookieRecord(
            name: Octets(part(0)), value: Octets(part(1)), domain: String(decoding: part(2), as: UTF8.self),
            isHostOnly: flags & 1 != 0, path: part(3).isEmpty ? "/" : Octets(part(3)), isSecure: flags & 2 != 0,
            isHTTPOnly: flags & 4 != 0, sameSite: SameSite(rawValue: flags >> 4 & 3) ?? .default,
            expiry: flags & 8 != 0 ? StoreRun.start.advanced(bySeconds: 3600) : nil)
    }
}
