import Foundation

/// A request to a service.
struct ServiceRequest {
    let method: String
    /// The segments of the path behind `/v1`, as they are.
    let path: [String]
    /// The parameters of the query; those without a value are left out.
    var query: [(name: String, value: String?)] = []
    /// The body in JSON.
    private(set) var body: [UInt8]?

    static func get(_ path: String..., query: [(name: String, value: String?)] = []) -> ServiceRequest {
        ServiceRequest(method: "GET", path: path, query: query)
    }

    static func delete(_ path: String..., query: [(name: String, value: String?)] = []) -> ServiceRequest {
        ServiceRequest(method: "DELETE", path: path, query: query)
    }

    /// A request with nothing to say but its path.
    static func post(_ path: String...) -> ServiceRequest {
        ServiceRequest(method: "POST", path: path)
    }

    /// A request with a document.
    static func post(_ path: String..., document: some Encodable) throws -> ServiceRequest {
        ServiceRequest(method: "POST", path: path, body: Array(try JSONEncoder().encode(document)))
    }

    static func put(_ path: String..., document: some Encodable) throws -> ServiceRequest {
        ServiceRequest(method: "PUT", path: path, body: Array(try JSONEncoder().encode(document)))
    }

    static func patch(_ path: String..., document: some Encodable) throws -> ServiceRequest {
        ServiceRequest(method: "PATCH", path: path, body: Array(try JSONEncoder().encode(document)))
    }

    /// A request whose body comes piece by piece.
    static func upload(_ path: String..., query: [(name: String, value: String?)]) -> ServiceRequest {
        ServiceRequest(method: "POST", path: path, query: query)
    }

    /// Path and query, encoded.
    var target: String {
        let parameters = query.compactMap { name, value in value.map { "\(name)=\(percentEncoded($0))" } }
        let path = (["/v1"] + path.map(percentEncoded)).joined(separator: "/")
        return parameters.isEmpty ? path : "\(path)?\(parameters.joined(separator: "&"))"
    }
}
