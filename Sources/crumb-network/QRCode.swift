import CQRencode

/// A QR code: the modules of a square, dark or light.
struct QRCode: Equatable {
    /// How many modules a side has.
    let size: Int
    /// The modules, row by row; `true` for dark.
    let modules: [Bool]

    init(size: Int, modules: [Bool]) {
        self.size = size
        self.modules = modules
    }

    /// The smallest code of a text; `nil` if it is too long for any.
    init?(_ text: String) {
        // The least correction: nothing soils a screen, and a small code fits more terminals.
        let code = Array(text.utf8).withUnsafeBufferPointer { bytes in
            QRcode_encodeData(Int32(bytes.count), bytes.baseAddress, 0, QR_ECLEVEL_L)
        }
        guard let code else { return nil }
        defer { QRcode_free(code) }
        let size = Int(code.pointee.width)
        guard let data = code.pointee.data else { return nil }
        // The least significant bit says whether the module is dark; the others are of no interest here.
        self.init(size: size, modules: (0..<size * size).map { data[$0] & 1 == 1 })
    }

    /// Whether the module there is dark; outside there is the quiet zone.
    func isDark(row: Int, column: Int) -> Bool {
        (0..<size).contains(row) && (0..<size).contains(column) && modules[row * size + column]
    }
}

extension QRCode {
    /// The light margin that a reader needs (ISO/IEC 18004, section 5.3.8), in modules.
    private static let quietZone = 4

    /// Black on white by the colors that no theme changes, and back.
    private static let colorsOn = "\u{1B}[38;5;16;48;5;231m"
    private static let colorsOff = "\u{1B}[0m"

    /// How many columns ``lines(usesColor:)`` take.
    var columns: Int { size + 2 * QRCode.quietZone }

    /// The code as lines of half blocks, each two rows of modules.
    ///
    /// - Parameter usesColor: whether to set black and white, whatever the terminal's own colors are. Otherwise
    ///   characters represent the light modules, which is right on a dark background and inverted on a light one; most
    ///   readers accept both.
    func lines(usesColor: Bool) -> [String] {
        let rows = -QRCode.quietZone..<size + QRCode.quietZone
        return stride(from: rows.lowerBound, to: rows.upperBound, by: 2).map { row in
            let line = (-QRCode.quietZone..<size + QRCode.quietZone).map { column in
                QRCode.block(
                    upper: isDark(row: row, column: column) == usesColor,
                    lower: isDark(row: row + 1, column: column) == usesColor)
            }.joined()
            return usesColor ? QRCode.colorsOn + line + QRCode.colorsOff : line
        }
    }

    /// The character that is written in its upper half, its lower half, both or none.
    private static func block(upper: Bool, lower: Bool) -> String {
        switch (upper, lower) {
        case (true, true): "█"
        case (true, false): "▀"
        case (false, true): "▄"
        case (false, false): " "
        }
    }
}
