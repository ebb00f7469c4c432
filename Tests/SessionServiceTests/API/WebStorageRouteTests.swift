import Foundation
import HTTPTypes
import SessionStore
import Testing

@testable import SessionService

@Suite("localStorage that the service keeps with a jar")
struct WebStorageRouteTests {
    private static let route = "/v1/jars/default/storage"
    private static let origin = "origin=https://www.example.com/any/page"

    @Test("Web storage is listed by origin, key and value, and removed by item, by origin, or completely")
    func listed() async throws {
        try await ServiceFixture().run { client in
            let state =
                #"{"cookies":[],"origins":[{"origin":"https://www.example.com","localStorage":[{"name":"a b&","value":"x"}]},"#
                + #"{"origin":"http://other.test:81","localStorage":[{"name":"k","value":"v"}]}]}"#
            let imported = try await client.send(.post, "/v1/jars/default/captures?source=state", state)
            #expect(imported.object["storageItems"] as? Int == 2, "\(imported.text)")
            #expect(
                try await client.send(.get, Self.route).text
                    == #"{"origins":[{"items":1,"octets":2,"origin":"http://other.test:81"},"#
                    + #"{"items":2,"octets":24,"origin":"https://www.example.com"}]}"#)
            let keys = try await client.send(.get, "\(Self.route)?\(Self.origin)")
            let items = keys.object["items"] as? [[String: Any]]
            #expect(items?.compactMap { $0["key"] as? String } == ["token", "a b&"])
            #expect(!keys.text.contains("storage-secret"))
            let values = try await client.send(.get, "\(Self.route)?\(Self.origin)&values=true")
            #expect(values.text.contains(#""value":"storage-secret""#))
            let one = try await client.send(.delete, "\(Self.route)?\(Self.origin)&key=a%20b%26")
            #expect(one.text == #"{"jar":"default","removed":1}"#)
            let rest = try await client.send(.delete, "\(Self.route)?origin=http://other.test:81")
            #expect(rest.text == #"{"jar":"default","removed":1}"#)
            #expect(try await client.send(.delete, Self.route).text == #"{"jar":"default","removed":1}"#)
            #expect(try await client.send(.get, Self.route).text == #"{"origins":[]}"#)
        }
    }

    @Test("Values of web storage require 'secrets', and removing requires 'write'")
    func grants() async throws {
        let readers = AccessGrant(verbs: [.read], jars: .named(["default"]))
        try await ServiceFixture().run(readers) { client in
            let list = try await client.send(.get, "\(Self.route)?\(Self.origin)")
            #expect(list.status == 200 && !list.text.contains("storage-secret"))
            let values = try await client.send(.get, "\(Self.route)?\(Self.origin)&values=true")
            #expect(values.status == 403 && !values.text.contains("storage-secret"))
            #expect(try await client.send(.delete, Self.route).status == 403)
            let script = try await client.send(
                .post, "/v1/jars/default/script", #"{"urls":["https://www.example.com"]}"#)
            #expect(script.status == 403)
        }
    }

    @Test("Scripts and exports include web storage")
    func givenBack() async throws {
        try await ServiceFixture().run { client in
            let script = try await client.send(
                .post, "/v1/jars/default/script", #"{"urls":["https://www.example.com/"]}"#)
            #expect((script.object["script"] as? String)?.contains("storage-secret") == true)
            #expect(script.object["storageItems"] as? Int == 1)
            let other = try await client.send(
                .post, "/v1/jars/default/script", #"{"urls":["http://www.example.com/"]}"#)
            #expect((other.object["script"] as? String)?.contains("storage-secret") == false)
            let file = try await client.send(
                .post, "/v1/jars/default/export", #"{"format":"storage-state"}"#)
            #expect(file.text.contains(#"{"name":"token","value":"storage-secret"}"#), "\(file.text)")
        }
    }

    @Test(
        "Inconsistent parameters for web storage are rejected", arguments: ["values=true", "origin=nonsense", "keys=a"])
    func refused(query: String) async throws {
        let answer = try await ServiceFixture().run { try await $0.send(.get, "\(Self.route)?\(query)") }
        #expect(answer.status == 400, "\(answer.text)")
        let removal = try await ServiceFixture().run { try await $0.send(.delete, "\(Self.route)?key=a") }
        #expect(removal.code == "parameter-invalid")
    }
}
