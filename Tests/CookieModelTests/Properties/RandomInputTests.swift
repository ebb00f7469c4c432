import CookieScenarios
import TestSupport
import Testing

@testable import CookieModel

@Suite("Random bytes")
struct RandomInputTests {
    private func bytes(_ random: inout SeededGenerator, _ alphabet: [UInt8], upTo count: Int) -> [UInt8] {
        (0..<random.below(count)).map { _ in random.once(in: 10) ? UInt8(random.below(256)) : random.pick(alphabet) }
    }

    @Test("Parsing a line never traps, and its result comes from the line")
    func lines() {
        var random = SeededGenerator(seed: 10)
        let alphabet = Array("a=1; \tPath/MaxgeExirsDomnSuc-.0\"".utf8)
        for _ in 0..<100_000 {
            let line = Octets(bytes(&random, alphabet, upTo: 24))
            guard case .cookie(let setCookie) = SetCookie.parse(line) else { continue }
            let (name, value) = (setCookie.name, setCookie.value)
            guard name.count + value.count <= line.count, !(name.isEmpty && value.isEmpty), !name.contains(0x3D),
                !value.contains(0x3B),
                !ends(name).contains(where: { $0 == 0x20 || $0 == 0x09 }),
                !ends(value).contains(where: { $0 == 0x20 || $0 == 0x09 })
            else {
                Issue.record("\(line): \(name), \(value)")
                return
            }
        }
    }

    private func ends(_ octets: Octets) -> [UInt8] {
        [octets.first, octets.last].compactMap { $0 }
    }

    @Test("A cookie-date is never before 1601 and never traps")
    func dates() {
        var random = SeededGenerator(seed: 11)
        let words = ["1", "21", "nov", "2026", "08:30:15", " ", "-", ",", "99", "0", ":", "x", "9999", "feb", "29"].map
        { Array($0.utf8) }
        var parsed = 0
        for _ in 0..<20_000 {
            var text: [UInt8] = []
            for _ in 0..<random.below(12) {
                text += random.once(in: 20) ? [UInt8(random.below(256))] : random.pick(words) + [0x20]
            }
            let (engine, twin) = (text.span.parsedDate, TwinDate.parse(text))
            #expect(engine.map { Int($0.seconds) } == twin, "\(Octets(text))")
            parsed += engine == nil ? 0 : 1
        }
        #expect(parsed > 100)
    }

    @Test("A host that is taken is canonical already")
    func hosts() {
        var random = SeededGenerator(seed: 12)
        let alphabet = Array("aA.0x1789f[]:-%2e_xn--".utf8)
        var taken = 0
        for _ in 0..<20_000 {
            let text = Octets(bytes(&random, alphabet, upTo: 14))
            guard let host = WebHost(text) else { continue }
            taken += 1
            #expect(WebHost(host.octets) == host, "\(text)")
            #expect(WebHost(stored: host.octets) == host, "\(text)")
            #expect(host.octets.allSatisfy { $0 > 0x20 && $0 < 0x7F && !(0x41...0x5A).contains($0) }, "\(text)")
        }
        #expect(taken > 1000)
    }

    @Test("A URL that is taken reads the same when it is written")
    func urls() throws {
        var random = SeededGenerator(seed: 13)
        let alphabet = Array("/a.%2e?#@:\\ b;[]0".utf8)
        var taken = 0
        let base = try RequestURL("https://example.com/a/b?c")
        for _ in 0..<20_000 {
            let tail = Octets(bytes(&random, alphabet, upTo: 16))
            for url in [try? RequestURL("https://" + tail), try? base.resolving(tail)] {
                guard let url else { continue }
                taken += 1
                #expect(try RequestURL(url.description) == url, "\(tail)")
                #expect(url.path.first == 0x2F)
            }
        }
        #expect(taken > 1000)
    }

    @Test("A scenario line of any bytes is answered")
    func scenarioLines() {
        var random = SeededGenerator(seed: 14)
        let good = Array(
            #"{"id":"x","steps":[{"receive":{"url":"https://a.com/","setCookie":["a=1"]}},{"send":{"url":"https://a.com/"}}]}"#
                .utf8)
        for _ in 0..<500 {
            var line = good
            for _ in 0...random.below(3) { line[random.below(line.count)] = UInt8(random.below(256)) }
            let (answer, isScenario) = ScenarioLine.run(line, realTime: Session.start)
            #expect(!answer.isEmpty && !answer.contains(0x0A))
            #expect(isScenario == !String(decoding: answer, as: UTF8.self).contains("\"error\""))
        }
    }
}

extension Span<UInt8> {
    fileprivate var parsedDate: Timestamp? { CookieDate.parse(self) }
}
