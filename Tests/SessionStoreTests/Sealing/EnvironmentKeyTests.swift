import Foundation
import OAuth2
import Testing

@testable import SessionStore

@Suite("Keys in text, as the environment holds them")
struct EnvironmentKeyTests {
    private static let key = Data((0..<32).map { UInt8($0) }).base64EncodedString()
    private static let other = Data((0..<32).map { UInt8($0 + 1) }).base64EncodedString()

    @Test(
        "An environment variable may have a key, or keys separated by commas",
        arguments: [("\(key)", 1), (" \(key)\n", 1), ("\(key), \(other)", 2)])
    func read(text: String, count: Int) throws {
        let keys = try KeySource.base64(Secret(text), name: "CRUMB_KEY").load(mayCreate: false)
        #expect(keys.count == count)
        #expect(keys.first?.exposedBytes == (0..<32).map { UInt8($0) })
    }

    @Test(
        "An environment variable that is not a key is a clear error that does not show it",
        arguments: ["", "AAAA", "secret", "\(key),", ",\(key)", "\(key) \(other)", "crumb-key-1:\(key)"])
    func refused(text: String) throws {
        let error = #expect(throws: SessionStoreError.self) { try KeySource.base64(Secret(text), name: "CRUMB_KEY") }
        #expect(error?.code == .keyUnavailable && error?.subject == "CRUMB_KEY")
        #expect(text.isEmpty || error?.description.contains(text) == false)
    }
}
