import CookieModel
import Foundation
import Testing

@testable import SessionStore

@Suite("Keys of an app's own source")
struct KeySourceTests {
    private let folder = TemporaryFolder()

    private func open(_ keys: KeySource) throws -> SessionDatabase {
        try SessionDatabase(path: folder.file("app.sqlite"), keys: keys, now: Given.now)
    }

    @Test("A key that is made of the bytes of another one opens its database")
    func exported() throws {
        let key = SealingKey()
        try open(.key(key)).jar(now: Given.now).receive("a=1; Path=/")
        let bytes = key.exposedBytes
        #expect(bytes.count == 32)
        let source = KeySource(name: "the keychain") { _ throws(SessionStoreError) in
            guard let key = SealingKey(bytes: bytes) else {
                throw SessionStoreError(code: .keyUnavailable, subject: "the keychain", reason: "the item is not a key")
            }
            return key
        }
        #expect(try open(source).jar(now: Given.now).header() == "a=1")
        #expect(SealingKey(bytes: Array(bytes.dropLast())) == nil)
        var dumped = ""
        dump(key, to: &dumped)
        #expect(dumped.contains("SealingKey") && "\(key)" == "SealingKey")
    }

    @Test("A locked keychain is reported as what it is")
    func locked() throws {
        let source = KeySource(name: "the keychain") { _ throws(SessionStoreError) in
            throw SessionStoreError(
                code: .keyLocked, subject: "the keychain", reason: "it is locked; unlock the device and try again")
        }
        let error = #expect(throws: SessionStoreError.self) { try open(source) }
        #expect(error?.code == .keyLocked)
        #expect(error?.localizedDescription == "the keychain: it is locked; unlock the device and try again")
    }
}
