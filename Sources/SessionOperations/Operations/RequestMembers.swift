package import CookieModel
package import HTTPCaching
import HTTPTypes
package import SessionWire

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension OperationError {
    package static func parameterInvalid(_ name: String, _ detail: String) -> OperationError {
        OperationError(.parameterInvalid, "\(name): \(detail)")
    }

    /// A place in a list that no answer named. The list does not begin again: a client would read its first page for
    /// ever.
    package static let cursorInvalid = parameterInvalid("cursor", "use the 'next' of a response")

    package static func bodyInvalid(_ detail: String) -> OperationError {
        OperationError(.bodyInvalid, detail)
    }
}

extension RequestURL {
    /// Parses a URL from a request.
    ///
    /// - Parameter member: the member that contains it.
    package init(_ text: String, member: String) throws(OperationError) {
        do {
            self = try RequestURL(text)
        } catch {
            throw OperationError(.urlInvalid, "\(member): \(error.description)")
        }
    }
}

extension RawRepresentable<String> where Self: CaseIterable {
    /// A hint that lists the accepted values.
    package static var hint: String {
        "use one of \(allCases.map(\.rawValue).joined(separator: ", "))"
    }

    /// The choice that a member names. Any other value is refused with a list of them.
    package static func named(_ name: String, member: String) throws(OperationError) -> Self {
        guard let choice = Self(rawValue: name) else { throw .bodyInvalid("\(member): \(hint)") }
        return choice
    }

    /// The choice that a member names; `nil` if it is missing.
    package static func named(_ name: String?, member: String) throws(OperationError) -> Self? {
        guard let name else { return nil }
        return try named(name, member: member) as Self
    }
}

extension RequestDetails {
    /// The request, as the options `--method`, `--top-level`, `--initiator` and `--navigation` of the command describe
    /// it.
    ///
    /// - Parameter member: the member that contains the URL.
    package func requestContext(
        for url: String, member: String = "url", _ interface: RequestContext.Interface = .http
    ) throws(OperationError) -> RequestContext {
        var context = RequestContext(url: try RequestURL(url, member: member))
        if let method {
            try checkMethod(method)
            context.method = method.uppercased()
        }
        if let topLevel { context.topLevel = try RequestURL(topLevel, member: "topLevel") }
        if let initiator {
            context.initiator = initiator == "user" ? .user : .origin(try RequestURL(initiator, member: "initiator"))
        }
        context.isTopLevelNavigation = navigation ?? (topLevel == nil)
        return interface == .script ? context.scriptAccess : context
    }
}

extension CachingRules {
    /// Reads the lines of a table of rules from a request; the built-in rules without one.
    ///
    /// - Parameter member: The member that contains them.
    package init(lines: [String]?, member: String) throws(OperationError) {
        do throws(CachingRulesError) {
            self = try CachingRules(table: (lines ?? []).joined(separator: "\n"))
        } catch {
            throw .bodyInvalid("\(member): \(error.description)")
        }
    }
}

/// Checks the member `method` of a document.
func checkMethod(_ method: String) throws(OperationError) {
    guard HTTPRequest.Method(rawValue: method) != nil else {
        throw .bodyInvalid("method: this is not an HTTP method")
    }
}

extension HeaderFieldDocument {
    /// Returns the octets of a value that is given as text or in Base64.
    ///
    /// - Parameter prefix: the prefix of the two members' names in the body.
    package static func octets(
        _ value: String?, _ valueBase64: String?, at prefix: String
    ) throws(OperationError) -> Octets {
        switch (value, valueBase64) {
        case (let text?, nil): return Octets(text)
        case (nil, let base64?):
            guard let data = Data(base64Encoded: base64) else {
                throw .bodyInvalid("\(prefix)valueBase64: this is not base64")
            }
            return Octets(Array(data))
        default:
            let place = prefix.isEmpty ? "value" : String(prefix.dropLast())
            throw .bodyInvalid("\(place): use either value or valueBase64")
        }
    }
}
