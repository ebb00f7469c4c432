/// Decompresses the members of a gzip file (RFC 1952) piece by piece, and verifies their checksums.
package struct GzipMembers: Sendable {
    private enum Stage {
        case header
        case body
        case trailer
    }

    /// The longest header of a member; files have a name of a few octets there.
    private static let headerLimit = 1 << 17

    private var stage = Stage.header
    private var inflate = Inflate()
    private var checksum = CRC32()
    private var length: UInt32 = 0
    private var count = 0

    package init() {}

    /// Whether at least one member came, and all that began have ended.
    package var areComplete: Bool { stage == .header && count > 0 }

    /// Decompresses the next piece.
    ///
    /// - Returns: `nil` if the rest of the input is too short, or at the end of a member.
    package mutating func next(_ input: inout BitInput) throws(Inflate.Failure) -> [UInt8]? {
        while true {
            switch stage {
            case .header:
                // Some programs fill the last block of a file.
                while count > 0, input.count > 0, input[0] == 0 { _ = input.takeOctets(1) }
                guard let length = try headerLength(input) else { return nil }
                _ = input.takeOctets(length)
                (inflate, checksum, self.length, stage) = (Inflate(), CRC32(), 0, .body)
            case .body:
                if let piece = try inflate.next(&input) {
                    checksum.update(piece)
                    length &+= UInt32(truncatingIfNeeded: piece.count)
                    return piece
                }
                guard inflate.isComplete else { return nil }
                stage = .trailer
            case .trailer:
                guard input.count >= 8 else { return nil }
                guard input.number(at: 0, 4) == checksum.value, input.number(at: 4, 4) == length else {
                    throw .damaged
                }
                _ = input.takeOctets(8)
                count += 1
                stage = .header
            }
        }
    }

    /// The length of a member's header (section 2.3); `nil` if not all of it has come.
    private func headerLength(_ input: BitInput) throws(Inflate.Failure) -> Int? {
        for (index, octet) in [0x1F, 0x8B, 0x08].enumerated() where index < input.count && input[index] != octet {
            throw .damaged
        }
        guard input.count >= 10 else { return nil }
        let flags = input[3]
        var length = 10
        if flags & 4 != 0 {
            guard input.count >= length + 2 else { return nil }
            length += 2 + Int(input.number(at: length, 2))
        }
        for flag: UInt8 in [8, 16] where flags & flag != 0 {
            while length < input.count, input[length] != 0 { length += 1 }
            guard length <= GzipMembers.headerLimit else { throw .damaged }
            length += 1
        }
        if flags & 2 != 0 { length += 2 }
        return length <= input.count ? length : nil
    }
}

/// The checksum of gzip and ZIP (RFC 1952, section 8).
package struct CRC32: Sendable {
    private static let table: [UInt32] = (0..<256).map { octet in
        (0..<8).reduce(UInt32(octet)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
    }

    private var rest = ~UInt32(0)

    package init() {}

    /// The checksum of the octets so far.
    package var value: UInt32 { ~rest }

    package mutating func update(_ octets: [UInt8]) {
        for octet in octets { rest = CRC32.table[Int((rest ^ UInt32(octet)) & 0xFF)] ^ rest >> 8 }
    }
}
