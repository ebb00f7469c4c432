import Testing

@testable import WebPrimitives

@Suite("Decompression")
struct InflateTests {
    private static let text = "a crumb, a crumb, a crumbly crumb"
    /// What Python's gzip makes of the text: stored, with the fixed codes, and with a name in the header.
    private static let texts = [
        "H4sIAAAAAAAA/wEhAN7/YSBjcnVtYiwgYSBjcnVtYiwgYSBjcnVtYmx5IGNydW1iMOMTrCEAAAA=",
        "H4sIAAAAAAAC/0tUSC4qzU3SUUhEY+RUQmgAMOMTrCEAAAA=",
        "H4sICAAAAAAC/25hbWUudHh0AEtUSC4qzU3SUUhEY+RUQmgAMOMTrCEAAAA=",
    ]
    /// What it makes of 60 lines: a block with codes of its own.
    private static let lines = """
        H4sIAAAAAAAC/52W243DMAwE/68KliBS1KucAFESA4YN2EZy5V+uhGEBxGo5JFfrsk1Jsj/kJuu+Pech1/y95LNcLznnex63VT77\
        cT9l2WS5ftb/AqUFTgsGflKlFVZoRcYajn1U3KqOaWjixI2ruHOInPvg4Dl5K1ylYy/ZnI8k30VO352rdOylGO5YaZhL5fQrV2nc\
        S+Md65zL4PRHDVwYPsqa+Mao8sXUwP6r8TOjOXDNPHA0S+A210AE1EDSNJ5n2j2QAjybLQVyQAP/DEvYj+WE+2aelOcanwOrAZ0W\
        8NMDfRucTw7MQVY+b9905z+CzPcnO9rTPz2I+2MCDAAA
        """

    private static func octets(_ text: String) throws -> [UInt8] { try #require(Base64.decode(Array(text.utf8))) }

    @Test("A gzip file of one or several members is unpacked to the original text")
    func gzip() throws {
        for text in Self.texts {
            let octets = try Self.octets(text)
            #expect(Inflate.isGzip(octets))
            #expect(try Inflate.gzip(octets, limit: 100) == Array(Self.text.utf8))
            #expect(try Inflate.gzip(octets + octets + [0, 0], limit: 100) == Array((Self.text + Self.text).utf8))
        }
        let lines = (0..<60).map { "line \($0 * $0) of a longer text with several words in it\n" }.joined()
        #expect(try Inflate.gzip(try Self.octets(Self.lines), limit: 10_000) == Array(lines.utf8))
    }

    @Test("Octets that come one by one give the same text")
    func pieces() throws {
        for text in Self.texts + [Self.lines] {
            let octets = try Self.octets(text)
            var (input, members, output) = (BitInput(), GzipMembers(), [UInt8]())
            for octet in octets {
                #expect(!members.areComplete)
                input.append([octet].span)
                while let piece = try members.next(&input) { output += piece }
            }
            #expect(members.areComplete && input.count == 0)
            #expect(output == (try Inflate.gzip(octets, limit: 10_000)))
        }
    }

    @Test("Bits that were taken ahead of a piece are octets again behind it")
    func piecesBehindBits() throws {
        var input = BitInput(Array(1...10))
        #expect(try input.take(3) == 1)
        input.append([11, 12].span)
        input.dropToOctet()
        #expect(Array(input.takeOctets(input.count)) == Array(2...12))
    }

    @Test("Octets before damaged ones come out")
    func before() throws {
        let octets = try Self.octets(Self.lines)
        var (input, members, output) = (
            BitInput(octets.dropLast(100) + [UInt8](repeating: 0xFF, count: 100)), GzipMembers(), [UInt8]()
        )
        #expect(throws: Inflate.Failure.damaged) {
            while let piece = try members.next(&input) { output += piece }
        }
        let whole = try Inflate.gzip(octets, limit: 10_000)
        #expect(output.count > 1000 && whole.starts(with: output.prefix(1000)))
    }

    @Test("A zlib stream is unpacked to the original text")
    func zlib() throws {
        let octets = try Self.octets("eNpLVEguKs1N0lFIRGPkVEJoALw/C4U=")
        #expect(try Inflate.zlib(octets, limit: 100) == Array(Self.text.utf8))
        #expect(throws: Inflate.Failure.self) { try Inflate.zlib([0x1F, 0x8B, 8, 0], limit: 100) }
    }

    @Test("Unpacking stops at the size limit")
    func limit() throws {
        for text in Self.texts {
            let octets = try Self.octets(text)
            #expect(throws: Inflate.Failure.tooLong) { try Inflate.gzip(octets, limit: 32) }
        }
    }

    @Test("Damaged octets, and those whose end is missing, are refused")
    func damaged() throws {
        for text in Self.texts + [Self.lines] {
            let octets = try Self.octets(text)
            for count in octets.indices {
                #expect(throws: Inflate.Failure.damaged) { try Inflate.gzip(Array(octets[..<count]), limit: 10_000) }
            }
            for index in octets.indices.dropFirst(10) {
                var changed = octets
                changed[index] ^= 0x55
                // A name in the header may be another one.
                let result = try? Inflate.gzip(changed, limit: 10_000)
                #expect(result == nil || text == Self.texts[2] && index < 19)
            }
        }
    }
}
