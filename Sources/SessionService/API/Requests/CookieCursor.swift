import CookieModel
import Foundation

/// A place in the order in which a jar's cookies were made; opaque to callers.
struct CookieCursor: Comparable, Sendable {
    private let creation: Int64
    private let sequence: Int64

    private init(creation: Int64, sequence: Int64) {
        self.creation = creation
        self.sequence = sequence
    }

    /// Where a cookie is.
    init(at cookie: Cookie) {
        creation = cookie.creation.microseconds
        sequence = Int64(cookie.sequence)
    }

    /// Where a query says that the last page ended.
    init(_ query: QueryItems) throws(ServiceProblem) {
        guard let text = try query.one("cursor") else {
            self = CookieCursor(creation: .min, sequence: .min)
            return
        }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { Int64($0, radix: 36) }
        guard parts.count == 2, let creation = parts[0], let sequence = parts[1] else {
            throw .parameterInvalid("cursor", "this is no cursor of an answer's 'next'")
        }
        self = CookieCursor(creation: creation, sequence: sequence)
    }

    /// The cursor as callers give it back.
    var text: String { "\(String(creation, radix: 36)).\(String(sequence, radix: 36))" }

    /// Whether it is the place before all cookies.
    var isBeginning: Bool { creation == .min && sequence == .min }

    /// Whether a cookie comes after it.
    func isBefore(_ cookie: Cookie) -> Bool { self < CookieCursor(at: cookie) }

    static func < (left: CookieCursor, right: CookieCursor) -> Bool {
        (left.creation, left.sequence) < (right.creation, right.sequence)
    }
}
