import CookieModel
import SessionOperations

/// Set-Cookie lines that a user wants to know about. They are as good as passwords: none is ever repeated.
struct SetCookieInput {
    private static let sizeLimit = 1 << 20
    private static let fieldName = Array("set-cookie:".utf8)

    /// The field values, in order.
    let lines: [Octets]

    /// Reads them, one on each line. Where a line has the field's name in front, only those that have it count.
    init(_ input: InputFile) throws {
        let bytes: [UInt8]
        do {
            bytes = try input.contents(limit: SetCookieInput.sizeLimit, otherwise: .lineTooLong)
        } catch let problem as Problem where problem.failure != .lineTooLong && input.name.contains("=") {
            throw Problem(
                .inputNotFound,
                "--set-cookie: there is no such file; a line itself is read from a file or standard input ('-'), "
                    + "where nobody else can see it")
        }
        let all = bytes.split(separator: UInt8(ascii: "\n")).map { line in
            line.last == UInt8(ascii: "\r") ? line.dropLast() : line
        }.filter { line in !line.allSatisfy(InputFile.isWhiteSpace) }
        let named = all.filter(SetCookieInput.hasName).map { $0.dropFirst(SetCookieInput.fieldName.count) }
        lines = (named.isEmpty ? all : named).map { Octets(Array($0)) }
        if lines.isEmpty { throw Problem(.inputEmpty, "\(input.name): there is no Set-Cookie line in it") }
    }

    private static func hasName(_ line: ArraySlice<UInt8>) -> Bool {
        line.prefix(fieldName.count).map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 } == fieldName
    }
}
