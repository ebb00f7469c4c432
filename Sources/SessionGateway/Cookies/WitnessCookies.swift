import CookieModel
import Crypto
import WebPrimitives

/// The gateway's own cookies, by which a browser shows which cookies it sends with a request.
///
/// Each site of a browser profile gets one for each class of cookies. They never pass the gateway: it removes them from
/// each request, and drops lines of servers with their names. Their values are authenticated with the class, the scheme
/// and the domain that they stand for, so no page can forge one or move it elsewhere.
///
/// A value cannot show that its cookie still has its attributes: another server of the site could set it again. So a
/// witness for a whole site requires that the gateway reads all requests to the site. A witness for a single host has a
/// name (`__Host-`) that browsers accept from no other host.
struct WitnessCookies: Sendable {
    /// The classes that a browser treats differently.
    enum Kind: UInt8, CaseIterable, Hashable {
        case none, lax, strict, `default`, partitioned
        /// Represents no class. It is the first cookie of a site that a browser removes to make room.
        case canary
    }

    /// The context in which a witness was set.
    struct Mark: Hashable {
        /// A random number for the partition (``Kind/partitioned``) or for the page around the request (``Kind/none``,
        /// 0 for a page of the site itself). For other kinds, ``browser`` and ``moment``.
        var context: UInt64 = 0
        /// When it was set, in periods.
        var period: Int64

        /// The browser, identified by the moment at which it had no witnesses.
        var browser: UInt32 { UInt32(truncatingIfNeeded: context >> 32) }
        /// The moment of the request whose response has set it.
        var moment: UInt32 { UInt32(truncatingIfNeeded: context) }

        init(context: UInt64 = 0, period: Int64) {
            self.context = context
            self.period = period
        }

        init(browser: UInt32, moment: UInt32, period: Int64) {
            self.init(context: UInt64(browser) << 32 | UInt64(moment), period: period)
        }
    }

    /// The site, or the host, whose requests carry a witness.
    struct Scope: Hashable {
        let domain: Octets
        let isHostOnly: Bool
        let isEncrypted: Bool
    }

    /// The cookies of one request.
    struct ReturnedWitnesses {
        /// The witnesses that the browser has sent.
        var marks: [Kind: Mark] = [:]
        /// Whether a witness came twice, or with a value that the gateway has not created.
        var isForged = false
        /// The canary; `nil` if none or several have come.
        var canary: Mark?
        /// The other cookies, in their order.
        var others: [Octets] = []

        /// The witnesses that contain the browser and the moment.
        var dated: [Mark] { isForged ? [] : [Kind.lax, .strict, .default].compactMap { marks[$0] } }

        /// Whether the browser has sent all the witnesses that a page of the site gets in a scope, except the
        /// partitioned one.
        func isWhole(in scope: Scope) -> Bool { dated.count == 3 && (!scope.isEncrypted || marks[.none] != nil) }
    }

    /// The time in seconds after which a witness is set again even if it is not missing.
    static let period: Int64 = 1800
    /// For how many periods a witness is valid.
    private static let periodLimit: Int64 = 48

    /// The prefix of a name that browsers accept only over https, and only from the host itself.
    private static let hostPrefix = Array("__Host-".utf8)

    private let key: SymmetricKey
    private let kinds: [Octets: (kind: Kind, isEncrypted: Bool)]
    private let names: [[Octets]]
    private let hasPrefixes: Bool

    /// Creates witnesses for one browser profile.
    ///
    /// - Parameter hasPrefixes: Whether witnesses of one host have names that only this host can set.
    init(key: SymmetricKey, hasPrefixes: Bool) {
        self.key = key
        self.hasPrefixes = hasPrefixes
        var kinds: [Octets: (kind: Kind, isEncrypted: Bool)] = [:]
        names = [false, true].map { isEncrypted in
            Kind.allCases.map { kind in
                let code = HMAC<SHA256>.authenticationCode(for: [kind.rawValue, isEncrypted ? 1 : 0], using: key)
                // The number belongs to this gateway.
                let name = Octets("\(WitnessName.mark)\(Hexadecimal.text(Array(code.prefix(4))))")
                kinds[name] = (kind, isEncrypted)
                return name
            }
        }
        self.kinds = kinds
    }

    /// Whether a name begins with ``hostPrefix``, which requires Secure.
    private func isPrefixed(_ kind: Kind, _ scope: Scope) -> Bool {
        hasPrefixes && scope.isHostOnly && isSecure(kind, scope)
    }

    /// Whether a witness is Secure. Browsers remove cookies without that first.
    private func isSecure(_ kind: Kind, _ scope: Scope) -> Bool { scope.isEncrypted && kind != .canary }

    /// Separates the witnesses from the other cookies of a request.
    func read(_ fields: [Octets], in scope: Scope, period now: Int64) -> ReturnedWitnesses {
        var returned = ReturnedWitnesses()
        var canaries: [Mark?] = []
        for pair in fields.flatMap(\.cookiePairs) {
            let isPrefixed = pair.starts(with: WitnessCookies.hostPrefix)
            let start = isPrefixed ? WitnessCookies.hostPrefix.count : 0
            guard let equals = pair.firstIndex(of: ASCII.equals), equals >= start,
                let known = kinds[Octets(Array(pair[start..<equals]))]
            else {
                // A witness of an earlier or another gateway proves nothing, and no server must see it.
                if !WitnessCookies.isName(pair) { returned.others.append(pair) }
                continue
            }
            // Browsers send the witnesses of http over https as well, where others count, and the canary of https over
            // http.
            guard known.isEncrypted == scope.isEncrypted else { continue }
            let mark =
                isPrefixed == self.isPrefixed(known.kind, scope)
                ? mark(of: Array(pair[(equals + 1)...])[...], known.kind, scope) : nil
            guard known.kind != .canary else {
                canaries.append(mark)
                continue
            }
            guard let mark, returned.marks[known.kind] == nil else {
                returned.isForged = true
                continue
            }
            if mark.period <= now, now - mark.period < WitnessCookies.periodLimit { returned.marks[known.kind] = mark }
        }
        if canaries.count == 1 { returned.canary = canaries[0] }
        return returned
    }

    /// Whether a server sets a cookie that would look like a witness of any gateway in a request.
    func isWitness(_ line: Octets) -> Bool {
        WitnessCookies.isName(Octets(Array(line.prefix { $0 != ASCII.semicolon })))
    }

    /// Whether a cookie has the name of a witness. The value of a cookie without a name counts, too: browsers send only
    /// the value, and WebKit writes `=` before it.
    fileprivate static func isName(_ pair: Octets) -> Bool {
        let pair = pair.trimmingBlanks
        let named = pair.first == ASCII.equals ? pair.dropFirst() : pair[...]
        return WitnessName.matches(Octets(Array(named.prefix { $0 != ASCII.equals })).trimmingBlanks)
    }

    /// The Set-Cookie line of a witness; `nil` if the scheme has no witness of this kind.
    func line(_ kind: Kind, _ mark: Mark, in scope: Scope) -> Octets? {
        let sameSite: String
        switch kind {
        // Browsers require Secure with these attributes.
        case .none, .partitioned:
            guard scope.isEncrypted else { return nil }
            sameSite = "; SameSite=None"
        case .lax: sameSite = "; SameSite=Lax"
        case .strict, .canary: sameSite = "; SameSite=Strict"
        case .default: sameSite = ""
        }
        var line = isPrefixed(kind, scope) ? WitnessCookies.hostPrefix : []
        line += names[scope.isEncrypted ? 1 : 0][Int(kind.rawValue)].bytes + [ASCII.equals]
        line += value(kind, mark, scope)
        line += "; Path=/; HttpOnly\(sameSite)".utf8
        if isSecure(kind, scope) { line += "; Secure".utf8 }
        if !scope.isHostOnly { line += Array("; Domain=".utf8) + scope.domain }
        if kind == .partitioned { line += "; Partitioned".utf8 }
        return Octets(line)
    }

    private static let valueLength = 64

    private func value(_ kind: Kind, _ mark: Mark, _ scope: Scope) -> [UInt8] {
        let content = WitnessCookies.octets(mark.context) + WitnessCookies.octets(UInt64(bitPattern: mark.period))
        return Array(Hexadecimal.text(content + code(content, kind, scope).prefix(16)).utf8)
    }

    private func mark(of value: ArraySlice<UInt8>, _ kind: Kind, _ scope: Scope) -> Mark? {
        guard value.count == WitnessCookies.valueLength,
            let octets = Hexadecimal.bytes(String(decoding: value, as: UTF8.self)), octets.count == 32
        else { return nil }
        let content = Array(octets.prefix(16))
        // Compared in constant time.
        let difference = zip(code(content, kind, scope), octets.dropFirst(16)).reduce(0) { $0 | $1.0 ^ $1.1 }
        guard difference == 0 else { return nil }
        let numbers = [content.prefix(8), content.dropFirst(8)].map { $0.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
        return Mark(context: numbers[0], period: Int64(bitPattern: numbers[1]))
    }

    private func code(_ content: [UInt8], _ kind: Kind, _ scope: Scope) -> HMAC<SHA256>.MAC {
        let place = [kind.rawValue, scope.isEncrypted ? 1 : 0, scope.isHostOnly ? 1 : 0] + scope.domain.bytes
        return HMAC<SHA256>.authenticationCode(for: content + place, using: key)
    }

    private static func octets(_ number: UInt64) -> [UInt8] {
        (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
    }
}

extension Octets {
    /// The cookies of a Cookie field.
    fileprivate var cookiePairs: [Octets] {
        split(separator: ASCII.semicolon).map { Octets(Array($0)).trimmingBlanks }.filter { !$0.isEmpty }
    }

    /// A Cookie field without the witnesses of any gateway. A program may send witnesses from a browser's recording. A
    /// field without witnesses does not change.
    var withoutWitnesses: Octets {
        let pairs = cookiePairs
        let others = pairs.filter { !WitnessCookies.isName($0) }
        return others.count == pairs.count ? self : Octets(Array(others.map(\.bytes).joined(separator: "; ".utf8)))
    }
}
