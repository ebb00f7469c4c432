import FuzzSupport

@testable import CookieModel
@testable import WebPrimitives

/// A Set-Cookie line taken apart with arrays and splits, word for word as section 5.6 has it.
struct PlainLine {
    let name: [UInt8]
    let value: [UInt8]
    /// Why the line is ignored; empty where it is not.
    let reasons: ReasonSet<RejectionReason>
    /// The attributes whose values are not too long, in order, names in lower case.
    private let attributes: [(name: [UInt8], value: [UInt8])]

    init(_ line: [UInt8]) {
        let parts = line.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        let pair = parts.first ?? []
        if let equals = pair.firstIndex(of: UInt8(ascii: "=")) {
            name = pair[..<equals].trimmed
            value = pair[(equals + 1)...].trimmed
        } else {
            name = []
            value = pair.trimmed
        }
        var reasons = ReasonSet<RejectionReason>()
        if line.contains(where: \.isControl) { reasons.insert(.controlCharacter) }
        if name.count + value.count > 4096 { reasons.insert(.nameAndValueTooLong) }
        if name.isEmpty, value.isEmpty { reasons.insert(.emptyNameAndValue) }
        self.reasons = reasons
        attributes = parts.dropFirst().compactMap { part in
            let equals = part.firstIndex(of: UInt8(ascii: "="))
            let value = equals.map { part[($0 + 1)...].trimmed } ?? []
            guard value.count <= 1024 else { return nil }
            return (part[..<(equals ?? part.endIndex)].trimmed.map(\.lowercased), value)
        }
    }

    private func values(of name: String) -> [[UInt8]] {
        attributes.filter { $0.name.elementsEqual(name.utf8) }.map(\.value)
    }

    func has(_ name: String) -> Bool {
        !values(of: name).isEmpty
    }

    func domain(_ profile: CookieProfile) -> [UInt8]? {
        values(of: "domain").last.map { value in
            if value.elementsEqual(".".utf8), profile.contains(.refusesLoneDotDomain) { return value }
            return (value.first == UInt8(ascii: ".") ? Array(value.dropFirst()) : value).map(\.lowercased)
        }
    }

    func path(_ profile: CookieProfile) -> SetCookie.PathAttribute {
        let values = values(of: "path").filter { value in
            value.first == UInt8(ascii: "/") || !profile.contains(.ignoresRelativePath)
        }
        guard let last = values.last else { return .absent }
        return last.first == UInt8(ascii: "/") ? .path(Octets(last)) : .default
    }

    func sameSite(_ profile: CookieProfile) -> SameSite? {
        let known: [[UInt8]: SameSite] = [
            Array("none".utf8): SameSite.none, Array("lax".utf8): .lax, Array("strict".utf8): .strict,
        ]
        return values(of: "samesite").map { known[$0.map(\.lowercased)] ?? .default }
            .last { $0 != .default || !profile.contains(.keepsEarlierSameSite) }
    }

    var expires: Timestamp? {
        values(of: "expires").compactMap { CookieDate.parse($0.span) }.last
    }

    var maxAge: Int64? {
        values(of: "max-age").compactMap { value -> Int64? in
            let digits = value.first == UInt8(ascii: "-") ? value.dropFirst() : value[...]
            guard !digits.isEmpty, digits.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) else {
                return nil
            }
            let seconds = Int64(String(decoding: digits, as: UTF8.self)) ?? .max
            return value.count > digits.count ? -seconds : seconds
        }.last
    }
}
