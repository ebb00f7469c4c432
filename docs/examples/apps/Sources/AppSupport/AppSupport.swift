// What the programs share, and no app needs: the servers to talk to, and how a program says what is wrong.
public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// The servers that `Scripts/apps-check` has started.
public enum Server {
    /// The site.
    public static let site = variable("APPS_SITE")
    /// The identity provider.
    public static let issuer = variable("APPS_ISSUER")

    /// A setting of the check.
    public static func variable(_ name: String) -> String {
        guard let value = ProcessInfo.processInfo.environment[name] else { fatalError("run Scripts/apps-check") }
        return value
    }

    /// A URL of a server.
    public static func url(_ path: String, at server: String = site) -> URL {
        guard let url = URL(string: server + path) else { fatalError("\(server + path) is no URL") }
        return url
    }

    /// A posted form.
    public static func form(_ path: String, _ text: String) -> URLRequest {
        var request = URLRequest(url: url(path))
        request.httpMethod = "POST"
        request.httpBody = Data(text.utf8)
        request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
        return request
    }
}

/// Ends the program if a claim does not hold.
public func expect<Value: Equatable>(_ value: Value, _ expected: Value, _ claim: String, line: Int = #line) {
    guard value != expected else { return }
    FileHandle.standardError.write(Data("line \(line): \(claim): \(value), not \(expected)\n".utf8))
    exit(1)
}

extension Data {
    /// The text of a response.
    public var text: String { String(decoding: self, as: UTF8.self) }
}
