/// A script of this module as it stands in its file: comments for those who read it there, and places for what differs.
struct ScriptTemplate: Sendable {
    private enum Piece {
        case code([UInt8])
        case place(String)
    }

    private let pieces: [Piece]
    private let octetCount: Int

    /// Takes a file apart: a line `//{name}` is a place, other lines that begin with `//` are comments.
    init(_ bytes: [UInt8]) {
        var pieces: [Piece] = []
        var code: [UInt8] = []
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let indentation = line.prefix { $0 == UInt8(ascii: " ") }
            let text = line.dropFirst(indentation.count)
            guard text.starts(with: "//".utf8) else {
                code += line + [UInt8(ascii: "\n")]
                continue
            }
            guard text.starts(with: "//{".utf8) else { continue }
            pieces.append(.code(code + indentation))
            pieces.append(.place(String(decoding: text.dropFirst(3).dropLast(), as: UTF8.self)))
            code = [UInt8(ascii: "\n")]
        }
        self.pieces = pieces + [.code(code)]
        octetCount = bytes.count
    }

    /// The script with code in its places and without comments.
    ///
    /// - Parameter parts: the code that stands in each place, by name.
    func source(_ parts: [String: [UInt8]]) -> String {
        var script = JavaScript()
        script.reserve(octetCount + parts.reduce(0) { $0 + $1.value.count })
        for piece in pieces {
            switch piece {
            case .code(let code): script.write(code)
            case .place(let name): script.write(parts[name] ?? [])
            }
        }
        return script.text
    }
}
