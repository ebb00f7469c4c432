import TestSupport
import Testing

@testable import WebPrimitives

@Suite("Punycode")
struct PunycodeTests {
    @Test(
        "The samples of RFC 3492, section 7.1, and labels of the list are encoded",
        arguments: [
            ("ليهمابتكلموشعربي؟", "egbpdaj6bu4bxfgehfvwxn"),
            ("他们为什么不说中文", "ihqwcrb4cv8a8dqg056pqjye"),
            ("他們爲什麽不說中文", "ihqwctvzc91f659drss3x8bo0yb"),
            ("Pročprostěnemluvíčesky", "Proprostnemluvesky-uyb24dma41a"),
            ("למההםפשוטלאמדבריםעברית", "4dbcagdahymbxekheh6e0a7fei0b"),
            ("यहलोगहिन्दीक्योंनहींबोलसकतेहैं", "i1baa7eci9glrd9b2ae1bj0hfcgg6iyaf8o0a1dig0cd"),
            ("なぜみんな日本語を話してくれないのか", "n8jok5ay5dzabd5bym9f0cm5685rrjetr6pdxa"),
            ("почемужеонинеговорятпорусски", "b1abfaaepdrnnbgefbadotcwatmq2g4l"),
            ("PorquénopuedensimplementehablarenEspañol", "PorqunopuedensimplementehablarenEspaol-fmd56a"),
            ("TạisaohọkhôngthểchỉnóitiếngViệt", "TisaohkhngthchnitingVit-kjcr8268qyxafd2f1b9g"),
            ("3年B組金八先生", "3B-ww4c5e180e575a65lsy2b"),
            ("安室奈美恵-with-SUPER-MONKEYS", "-with-SUPER-MONKEYS-pc58ag80a8qai00g7n9n"),
            ("Hello-Another-Way-それぞれの場所", "Hello-Another-Way--fc4qua05auwb3674vfr0b"),
            ("ひとつ屋根の下2", "2-u9tlzr9756bt3uc0v"),
            ("MajiでKoiする5秒前", "MajiKoi5-783gue6qz075azm5e"),
            ("パフィーdeルンバ", "de-jg4avhby1noc0d"),
            ("そのスピードで", "d9juau41awczczp"),
            ("-> $1.00 <-", "-> $1.00 <--"),
            ("公司", "55qx5d"),
            ("ö", "nda"),
            ("\u{10FFFF}", "dn32g"),
            ("", ""),
        ])
    func samples(label: String, encoded: String) {
        #expect(Punycode.encode(Array(label.unicodeScalars)) == Array(encoded.utf8))
        #expect(
            Punycode.decode(Array(encoded.utf8.map(ASCII.lowercased))).map { $0.count } == label.unicodeScalars.count)
    }

    @Test("What the encoder makes of any label is decoded to the label")
    func roundTrip() {
        var random = SeededGenerator(seed: 3492)
        for _ in 0..<4_000 {
            let label = (0..<random.below(12)).map { _ in
                Unicode.Scalar(UInt32(random.below(random.once(in: 3) ? 0x80 : 0x11_0000))) ?? "\u{FFFD}"
            }
            #expect(Punycode.encode(label).flatMap(Punycode.decode) == label)
        }
    }

    @Test(
        "What no label is encoded to is not decoded",
        arguments: ["-nda", "nd!", "nDa", "99999999999", "ls8", "dn33g", "0000000g"])
    func notEncoded(text: String) {
        #expect(Punycode.decode(Array(text.utf8)) == nil)
    }

    @Test("A label too large to encode has no encoding, and nothing overflows")
    func limits() {
        let highest = [Unicode.Scalar](repeating: "\u{10FFFF}", count: 256)
        #expect(Punycode.encode(highest) != nil)
        #expect(Punycode.encode(highest + ["a"]) == nil)
        #expect(Punycode.encode([Unicode.Scalar](repeating: "a", count: 255) + ["\u{10FFFF}"]) != nil)
    }
}
