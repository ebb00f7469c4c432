import FuzzSupport

@testable import CookieModel
@testable import WebPrimitives

/// Any bytes as the field value of a Set-Cookie line.
enum ParserTarget {
    /// The byte that stands for a long run of letters. The limits of section 5.6 are thousands of bytes away, and inputs
    /// of that length would leave no time for anything else; of the other control characters there are enough.
    private static let run: UInt8 = 0x01
    private static let letters = [UInt8](repeating: UInt8(ascii: "x"), count: 1020)
    private static let runLimit = 5

    /// The line that an input stands for.
    static func line(_ input: [UInt8]) -> [UInt8] {
        guard input.contains(run) else { return input }
        let parts = input.split(separator: run, maxSplits: runLimit, omittingEmptySubsequences: false)
        return Array(parts.joined(separator: letters))
    }

    static func check(_ input: [UInt8]) {
        let plain = PlainLine(input)
        for profile in [CookieProfile.rfc6265bis, .browser] {
            let line = Octets(input)
            let result = SetCookie.parse(line, profile: profile)
            // The same line in the middle of other bytes: nothing reaches past its ends.
            let elsewhere = Octets([0x3D] + input + Array("; Secure=".utf8), in: 1..<(input.count + 1))
            Invariant.holds(
                SetCookie.parse(elsewhere, profile: profile) == result, "a line means the same wherever it stands")
            switch result {
            case .ignored(let reasons):
                Invariant.holds(reasons == plain.reasons && !reasons.isEmpty, "a line is ignored for its own reasons")
            case .cookie(let setCookie):
                Invariant.holds(plain.reasons.isEmpty, "a line that must be ignored is not")
                check(setCookie, isAs: plain, profile)
                checkPlaces(of: setCookie, in: line)
                Invariant.holds(
                    SetCookie.parse(written(setCookie), profile: profile) == result, "what is written reads the same")
            }
        }
    }

    private static func check(_ setCookie: SetCookie, isAs plain: PlainLine, _ profile: CookieProfile) {
        Invariant.holds(
            setCookie.name.elementsEqual(plain.name) && setCookie.value.elementsEqual(plain.value), "name and value")
        Invariant.holds(
            setCookie.isSecure == plain.has("secure") && setCookie.isHTTPOnly == plain.has("httponly")
                && setCookie.isPartitioned == plain.has("partitioned"), "attributes without a value")
        Invariant.holds(setCookie.domain == plain.domain(profile).map { Octets($0) }, "Domain")
        Invariant.holds(setCookie.path == plain.path(profile), "Path")
        Invariant.holds(setCookie.sameSite == plain.sameSite(profile), "SameSite")
        Invariant.holds(setCookie.expires == plain.expires, "Expires")
        Invariant.holds(setCookie.maxAge == plain.maxAge, "Max-Age")
    }

    /// Nothing is copied, and nothing lies outside of the line.
    private static func checkPlaces(of setCookie: SetCookie, in line: Octets) {
        var parts = [setCookie.name, setCookie.value]
        if case .path(let path) = setCookie.path { parts.append(path) }
        let whole = addresses(of: line)
        for part in parts {
            let place = addresses(of: part)
            Invariant.holds(
                whole.lowerBound <= place.lowerBound && place.upperBound <= whole.upperBound, "a part lies in the line")
        }
    }

    private static func addresses(of octets: Octets) -> Range<UInt> {
        octets.withContiguousStorageIfAvailable { buffer in
            let start = UInt(bitPattern: buffer.baseAddress)
            return start..<(start + UInt(buffer.count))
        } ?? 0..<0
    }

    /// A line that says what `setCookie` says, and nothing else.
    private static func written(_ setCookie: SetCookie) -> Octets {
        var line = setCookie.name.bytes + [UInt8(ascii: "=")] + setCookie.value.bytes
        func append(_ attribute: String, _ value: some Sequence<UInt8> = []) {
            line += "; \(attribute)".utf8
            line += value
        }
        if let expires = setCookie.expires { append("Expires=\(expires.httpDate)") }
        if let maxAge = setCookie.maxAge { append("Max-Age=\(maxAge)") }
        if let domain = setCookie.domain {
            // One leading dot is taken off, and what stands behind it is not trimmed.
            let needsDot = domain.first.map { $0 == UInt8(ascii: ".") || $0.isBlank } ?? false
            append(needsDot ? "Domain=." : "Domain=", domain)
        }
        switch setCookie.path {
        case .absent: break
        case .default: append("Path")
        case .path(let path): append("Path=", path)
        }
        if setCookie.isSecure { append("Secure") }
        if setCookie.isHTTPOnly { append("HttpOnly") }
        if setCookie.isPartitioned { append("Partitioned") }
        if let sameSite = setCookie.sameSite { append("SameSite=\(sameSite.attributeValue ?? "unknown")") }
        return Octets(line)
    }
}

/// libFuzzer calls this with every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    ParserTarget.check(ParserTarget.line(Array(UnsafeBufferPointer(start: start, count: count))))
    return 0
}
