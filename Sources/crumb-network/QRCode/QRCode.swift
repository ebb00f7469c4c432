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

    /// The smallest code of a text; `nil` where it is too long for any.
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
