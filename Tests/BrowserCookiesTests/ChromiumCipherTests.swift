import CookieModel
import Crypto
import CryptoExtras
import Foundation
import Testing

@testable import BrowserCookies

@Suite("Chromium's encryption on Linux")
struct ChromiumCipherTests {
    private func encrypted(_ version: String, _ text: [UInt8], password: String) throws -> Octets {
        let key = try KDF.Insecure.PBKDF2.deriveKey(
            from: Array(password.utf8), salt: Array("saltysalt".utf8), using: .insecureSHA1, outputByteCount: 16,
            unsafeUncheckedRounds: 1)
        let vector = try AES._CBC.IV(ivBytes: [UInt8](repeating: 0x20, count: 16))
        return Octets(Array(version.utf8) + Array(try AES._CBC.encrypt(text, using: key, iv: vector)))
    }

    private func describe(_ value: ChromiumCipher.Value) -> String {
        switch value {
        case .plain: "plain"
        case .decrypted(let octets): "decrypted \(octets)"
        case .unreadable(let obstacle): "\(obstacle)"
        }
    }

    @Test("Each version has its password, and the reasons for unreadable values are distinguished")
    func versions() throws {
        let host: Octets = "a.test"
        let hash = Array(SHA256.hash(data: host.bytes))
        let plain = Array("secret".utf8)
        let ours = try encrypted("v10", hash + plain, password: "peanuts")
        let keyring = try encrypted("v11", hash + plain, password: "pass")
        func value(_ octets: Octets?, password: String? = nil, hashed: Bool = true, host: Octets = "a.test") -> String {
            var cipher = ChromiumCipher(password: { password.map { Array($0.utf8) } }, hasHashedHost: hashed)
            return describe(cipher.value(octets, host: host))
        }
        #expect(value(nil) == "plain" && value([]) == "plain")
        #expect(value(ours) == "decrypted secret" && value(keyring, password: "pass") == "decrypted secret")
        #expect(value(keyring) == "passwordMissing" && value(keyring, password: "other") == "passwordWrong")
        // A row that was moved to another host.
        #expect(value(ours, host: "b.test") == "damaged")
        #expect(value(ours[0..<19]) == "damaged" && value("v10") == "unknown" && value("v1") == "unknown")
        #expect(value("v20xxxxxxxxxxxxxxxx") == "appBound" && value("v99xxxxxxxx") == "unknown")
        #expect(value(try encrypted("v10", plain, password: "peanuts"), hashed: false) == "decrypted secret")
        #expect(value(try encrypted("v10", plain, password: "peanuts")) == "damaged")
    }
}
