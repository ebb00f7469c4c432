import Foundation
import TestSupport
import WebPrimitives

/// A test of `http-tests/cache-tests`. Its `CONTRIBUTING.md` documents the members.
struct CacheTest {
    enum Kind: String {
        case required
        case optimal
        case check
    }

    let id: String
    let kind: Kind
    let requests: [CacheTestRequest]

    /// The file with the definitions, in the folder `shared/conformance` beside the package; not everyone has it.
    static let file = Repository.shared.appending(path: "conformance/http-cache-tests.json")
    static var exists: Bool { FileManager.default.fileExists(atPath: file.path) }

    /// The tests for proxies.
    static func all() throws -> [CacheTest] {
        let text = try [UInt8](Data(contentsOf: file))
        return (JSONValue(parsing: text.span)?.elements ?? []).flatMap { suite in
            (suite.object?["tests"]?.elements ?? []).compactMap { $0.object.flatMap(CacheTest.init) }
        }
    }

    private init?(_ test: JSONObject) {
        guard let id = test["id"]?.text, test["browser_only"]?.boolean != true, test["cdn_only"]?.boolean != true,
            let kind = Kind(rawValue: test["kind"]?.text ?? "required")
        else { return nil }
        self.id = id
        self.kind = kind
        requests = (test["requests"]?.elements ?? []).compactMap { $0.object.map(CacheTestRequest.init) }
    }
}

/// A field of a test's messages.
struct CacheTestField {
    let name: String
    var value: Value
    /// Whether the client checks that it gets this value.
    let isChecked: Bool

    enum Value {
        case text(String)
        /// A date, as seconds after the server's time.
        case offset(Int)
    }

    init?(_ json: JSONValue) {
        guard let parts = json.elements, parts.count >= 2, let name = parts[0].text else { return nil }
        self.name = name
        value = parts[1].integer.map(Value.offset) ?? .text(parts[1].text ?? "")
        isChecked = parts.count < 3 || parts[2].boolean == true
    }
}

/// An expectation about a field of a message.
enum CacheTestExpectation {
    case present(String)
    case equal(CacheTestField)
    case same(String, as: String)
    case greater(String, than: Int)

    init?(_ json: JSONValue) {
        if let name = json.text {
            self = .present(name)
        } else if let parts = json.elements, parts.count == 3, let name = parts[0].text {
            if let other = parts[2].text {
                self = .same(name, as: other)
            } else {
                self = .greater(name, than: parts[2].integer ?? 0)
            }
        } else if let field = CacheTestField(json) {
            self = .equal(field)
        } else {
            return nil
        }
    }
}

/// A request of a test, with the server's response and what client and server check.
struct CacheTestRequest {
    let method: String
    let fileName: String?
    let query: String?
    let fields: [CacheTestField]
    let responseStatus: Int?
    let responseFields: [CacheTestField]
    let responseBody: String?
    let expectedType: String?
    let expectedMethod: String?
    /// `nil` twice over if any status is right.
    let expectedStatus: Int??
    let expectedText: String??
    let expectedRequestFields: [CacheTestExpectation]
    let expectedFields: [CacheTestExpectation]
    let missingFields: [CacheTestExpectation]
    let interimStatuses: [Int]
    let expectedInterimStatuses: [Int]?
    let pausesAfter: Bool
    let checksBody: Bool
    let hasBodyMember: Bool
    let disconnects: Bool
    let resolvesLocations: Bool
    let fixesModifiedSince: Bool
    let usesOldDates: Set<String>
    let responseDelay: Int

    init(_ json: JSONObject) {
        func fields(_ name: String) -> [CacheTestField] {
            (json.value(named: name)?.elements ?? []).compactMap(CacheTestField.init)
        }
        func expectations(_ name: String) -> [CacheTestExpectation] {
            (json.value(named: name)?.elements ?? []).compactMap(CacheTestExpectation.init)
        }
        func statuses(_ name: String) -> [Int]? {
            json.value(named: name)?.elements.map { $0.compactMap { $0.elements?.first?.integer } }
        }
        func has(_ name: String) -> Bool { json.names.contains(Octets(name)) }
        method = json["request_method"]?.text ?? "GET"
        fileName = json["filename"]?.text
        query = json["query_arg"]?.text
        self.fields = fields("request_headers")
        responseStatus = json["response_status"]?.elements?.first?.integer
        responseFields = fields("response_headers")
        responseBody = json["response_body"]?.text
        hasBodyMember = json["response_body"] != nil
        expectedType = json["expected_type"]?.text
        expectedMethod = json["expected_method"]?.text
        expectedStatus = has("expected_status") ? .some(json["expected_status"]?.integer) : .none
        expectedText = has("expected_response_text") ? .some(json["expected_response_text"]?.text) : .none
        expectedRequestFields = expectations("expected_request_headers")
        expectedFields = expectations("expected_response_headers")
        missingFields = expectations("expected_response_headers_missing")
        interimStatuses = statuses("interim_responses") ?? []
        expectedInterimStatuses = statuses("expected_interim_responses")
        pausesAfter = json["pause_after"]?.boolean == true
        checksBody = json["check_body"]?.boolean != false
        disconnects = json["disconnect"]?.boolean == true
        resolvesLocations = json["magic_locations"]?.boolean == true
        fixesModifiedSince = json["magic_ims"]?.boolean == true
        usesOldDates = Set(json["rfc850date"]?.texts ?? [])
        responseDelay = json["response_pause"]?.integer ?? 0
    }
}
