import Foundation
import SessionWire
import Testing

@testable import SessionService

@Suite("The OpenAPI document is written from the operations and the documents")
struct OpenAPITests {
    private static let file = WireSource.folder.deletingLastPathComponent()
        .appending(path: "SessionService/API/OpenAPI/openapi.json")

    @Test("The checked-in document is current")
    func current() throws {
        let text = try OpenAPIPrinter.document().text() + "\n"
        if ProcessInfo.processInfo.environment["CRUMB_WRITE_OPENAPI"] != nil {
            try Data(text.utf8).write(to: Self.file)
        }
        let isCurrent = try String(contentsOf: Self.file, encoding: .utf8) == text
        #expect(isCurrent, "write it with CRUMB_WRITE_OPENAPI=1 Scripts/test --filter OpenAPITests")
    }

    @Test("Every operation has a text, and every text an operation")
    func texts() throws {
        let operations = OpenAPIPrinter.operations.map(\.operation.id)
        #expect(Set(operations).count == operations.count)
        #expect(Set(operations) == Set(try ServiceFixture().api.routes.compactMap(\.id)))
    }

    @Test("Every part of the document that is referred to exists")
    func references() throws {
        let document = try APIDocument()
        func check(_ value: Any) {
            if let list = value as? [Any] { for item in list { check(item) } }
            guard let members = value as? [String: Any] else { return }
            if members["$ref"] != nil { #expect(!document.resolved(members).isEmpty, "\(members)") }
            for member in members.values { check(member) }
        }
        check(document.members)
    }

    @Test("Every constraint belongs to a member, and every query parameter has a schema")
    func tables() throws {
        let types = try WireSource().types
        let members = Set(types.flatMap { name, type in type.members.map { "\(name).\($0.name)" } })
        #expect(SchemaConstraints.places.subtracting(members) == [])
        for text in OpenAPIPrinter.operations {
            for name in text.operation.parameters ?? [] {
                #expect((text.query[name] ?? OpenAPIParameters.query[name])?["schema"] != nil, "\(name)")
            }
            let unknown = text.query.members.filter { text.operation.parameters?.contains($0.name) != true }
            #expect(unknown.isEmpty, "\(text.operation.id)")
            #expect((text.body == nil) == (text.operation.body == .none), "\(text.operation.id)")
        }
    }

    @Test("A long value has a line for each member, and a short one is on one line")
    func layout() {
        let short: PrintedJSON = ["a": [1, true, nil], "b": [:], "c": "\"\\"]
        #expect(short.text() == #"{ "a": [1, true, null], "b": {}, "c": "\"\\" }"#)
        let text = String(repeating: "x", count: 90)
        let long: PrintedJSON = ["a": [.string(text)], "b": ["c": .string(text), "d": 1]]
        #expect(
            long.text() == """
                {
                  "a": ["\(text)"],
                  "b": { "c": "\(text)", "d": 1 }
                }
                """)
    }
}
