import CookieModel
import RequestDecoration

/// What one header block of curl's dump says to cookies and redirects.
struct ResponseBlock: Equatable {
    let status: Int
    /// The field values of the Set-Cookie lines, in order.
    var setCookie: [Octets] = []
    /// The values of the WWW-Authenticate fields, in order.
    var authenticate: [Octets] = []
    /// The nonce that the server wants in proofs.
    var proofNonce: String?
    /// The first Location that is not empty.
    var location: Octets?

    /// Whether a proxy answers, which sets no cookies for the server.
    var isFromProxy: Bool { status == 407 }

    /// The same, as the rules read it.
    var head: ResponseHead {
        ResponseHead(
            status: status, location: location, authenticate: authenticate, proofNonce: proofNonce,
            setCookie: setCookie)
    }

    /// Reads `HTTP/1.1 302 Found`; `nil` where the line is none.
    init?(statusLine line: [UInt8]) {
        guard line.starts(with: Array("HTTP/".utf8)), let blank = line.firstIndex(of: UInt8(ascii: " ")) else {
            return nil
        }
        let digits = line[blank...].drop { $0 == UInt8(ascii: " ") }.prefix { $0 != UInt8(ascii: " ") }
        guard digits.count == 3, let status = Int(String(decoding: digits, as: UTF8.self)) else { return nil }
        self.status = status
    }

    /// Takes one field, folded lines joined.
    mutating func take(_ field: [UInt8]) {
        guard let colon = field.firstIndex(of: UInt8(ascii: ":")) else { return }
        let name = String(decoding: field[..<colon].filter { !InputFile.isWhiteSpace($0) }, as: UTF8.self).lowercased()
        let value = Octets(Array(field[(colon + 1)...]).trimmed)
        switch name {
        case "set-cookie": setCookie.append(value)
        case "www-authenticate": authenticate.append(value)
        case "dpop-nonce": proofNonce = value.utf8String
        case "location" where location == nil && !value.isEmpty: location = value
        default: break
        }
    }
}
