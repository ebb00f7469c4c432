import HTTPTypes
import OAuth2
import TestSupport
import Testing

@Suite("Readers of tokens survive any bytes")
struct TokenFuzzTests {
    private static let seeds = [
        #"{"access_token":"2YotnFZFEjr1zCsicMWpAA","token_type":"bearer","expires_in":"3600","scope":["a","b"]}"#,
        #"{"access_token":"a","refresh_token":"r","refresh_expires_in":1.5e3,"expiry":"2026-11-21T09:00:00.5+01:00"}"#,
        #"{"error":"invalid_grant","error_description":"no \u00e9\ud83d\ude00 \"x\"\n","x":[{"y":[null,true,-0.5E-3]}]}"#,
        "Bearer 2YotnFZFEjr1zCsicMWpAA\r\n", #""quoted\u0041""#, "<html>", "\u{FEFF}{}",
    ].map { Array($0.utf8) }

    private static let statuses = [100, 200, 204, 302, 400, 401, 429, 500, 599].map { HTTPResponse.Status(code: $0) }

    /// Reads `bytes` in every way, and checks what holds for any result.
    private func read(_ bytes: [UInt8], _ status: HTTPResponse.Status) {
        for tokens in [
            try? TokenResponse.tokenSet(status: status, body: bytes, now: now, redacting: [Secret("2Yotn")]),
            try? TokenImport.tokenSet(bytes, now: now),
        ].compactMap(\.self) {
            let token = tokens.accessToken.exposedBytes
            #expect(!token.isEmpty && token.allSatisfy { (0x21...0x7E).contains($0) })
            #expect(tokens.accessTokenExpiry.map { $0 > .epoch } ?? true)
            #expect(tokens.receivedAt <= now)
        }
        let error = thrown { () throws(OAuth2Error) in
            try TokenResponse.tokenSet(status: status, body: bytes, now: now, redacting: [Secret("2Yotn")])
        }
        if let text = error?.description {
            #expect(!text.contains("2Yotn"))
            #expect(text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
            #expect(text.count < 400)
        }
        _ = TokenResponse.refreshToken(status: status, body: bytes)
    }

    @Test("Readers of tokens survive random bytes", arguments: 1...4 as ClosedRange<UInt64>)
    func random(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<2000 {
            let count = Int.random(in: 0...200, using: &generator)
            let bytes = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
            read(bytes, Self.statuses.randomElement(using: &generator) ?? .ok)
        }
    }

    @Test(
        "Readers of tokens survive real replies with bytes changed, removed, doubled and inserted",
        arguments: 1...4 as ClosedRange<UInt64>)
    func mutated(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let structural = Array(#"{}[]",:\u0dtfn-+.eE19 "#.utf8)
        for _ in 0..<2000 {
            var bytes = Self.seeds.randomElement(using: &generator) ?? []
            for _ in 0..<Int.random(in: 1...6, using: &generator) where !bytes.isEmpty {
                let position = Int.random(in: 0..<bytes.count, using: &generator)
                let end = Int.random(in: position...bytes.count, using: &generator)
                switch Int.random(in: 0..<5, using: &generator) {
                case 0: bytes[position] = UInt8.random(in: .min ... .max, using: &generator)
                case 1: bytes[position] = structural.randomElement(using: &generator) ?? 0
                case 2: bytes.removeSubrange(position..<min(end, position + 8))
                case 3: bytes.insert(contentsOf: bytes[position..<end], at: position)
                default: bytes.removeLast(bytes.count - position)
                }
            }
            read(bytes, Self.statuses.randomElement(using: &generator) ?? .ok)
        }
    }

    @Test("Readers of tokens survive real replies that end anywhere")
    func truncated() {
        for seed in Self.seeds {
            for end in seed.indices { read(Array(seed[..<end]), .ok) }
        }
    }
}
