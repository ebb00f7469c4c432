import Testing

@testable import crumb_network

@Suite("QR codes")
struct QRCodeTests {
    private static let quiet = String(repeating: " ", count: 4)
    private static let on = "\u{1B}[38;5;16;48;5;231m"
    private static let off = "\u{1B}[0m"

    @Test("Two rows of modules make a line, with a margin of four modules around")
    func lines() {
        let code = QRCode(size: 3, modules: [true, true, false, false, true, false, true, true, true])
        let empty = Self.on + String(repeating: " ", count: 11) + Self.off
        #expect(code.columns == 11)
        #expect(
            code.lines(usesColor: true) == [
                empty, empty, Self.on + Self.quiet + "▀█ " + Self.quiet + Self.off,
                Self.on + Self.quiet + "▀▀▀" + Self.quiet + Self.off, empty, empty,
            ])
    }

    @Test("Without colors the written characters are the light modules")
    func plain() {
        let lines = QRCode(size: 1, modules: [true]).lines(usesColor: false)
        let light = String(repeating: "█", count: 9)
        #expect(lines == [light, light, "████▄████", light, light])
    }

    @Test("A text is one code, with the three squares that readers look for, and a longer one a larger")
    func encoded() throws {
        let code = try #require(QRCode("https://id.example/device?user_code=AB-CD"))
        #expect(code == QRCode("https://id.example/device?user_code=AB-CD") && code.size % 4 == 1)
        let square = [
            "#######", "#     #", "# ### #", "# ### #", "# ### #", "#     #", "#######",
        ].map { $0.map { $0 == "#" } }
        for (top, left) in [(0, 0), (0, code.size - 7), (code.size - 7, 0)] {
            let found = (0..<7).map { row in (0..<7).map { code.isDark(row: top + row, column: left + $0) } }
            #expect(found == square)
        }
        #expect(!code.isDark(row: -1, column: 0) && !code.isDark(row: 0, column: code.size))
        #expect(try #require(QRCode(String(repeating: "x", count: 500))).size > code.size)
        #expect(QRCode(String(repeating: "x", count: 3000)) == nil && QRCode("") == nil)
    }
}
