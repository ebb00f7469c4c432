import Foundation
import WebPrimitives

/// The request of a step as its JSON has it, with what surrounds it.
struct ScenarioRequestDocument: Decodable {
    let context: RequestContext

    enum CodingKeys: CodingKey, CaseIterable {
        case url, method, via, context
    }

    enum ContextKeys: CodingKey, CaseIterable {
        case topLevel, initiator, navigation, redirects
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let url = try ScenarioRequestDocument.checking(.url, container) { text throws(RequestURLError) in
            try RequestURL(text)
        }
        var context = RequestContext(url: url)
        if let method = try container.decodeIfPresent(String.self, forKey: .method) {
            context.method = method.uppercased()
        }
        if let via = try container.decodeIfPresent(String.self, forKey: .via) {
            guard let interface = RequestContext.Interface(rawValue: via) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .via, in: container, debugDescription: "this is neither http nor script")
            }
            context.interface = interface
        }
        if container.contains(.context), try !container.decodeNil(forKey: .context) {
            let surroundings = try container.superDecoder(forKey: .context)
            try surroundings.checkMembers(ContextKeys.allCases)
            try ScenarioRequestDocument.read(try surroundings.container(keyedBy: ContextKeys.self), into: &context)
        }
        self.context = context
    }

    private static func read(
        _ container: KeyedDecodingContainer<ContextKeys>, into context: inout RequestContext
    ) throws {
        let hasTopLevel = try container.contains(.topLevel) && !container.decodeNil(forKey: .topLevel)
        if hasTopLevel { context.topLevel = try checking(.topLevel, container, page) }
        let isOpaque = hasTopLevel && context.topLevel == nil
        if !container.contains(.initiator) {
            context.initiator = isOpaque ? .opaque : .topLevel
        } else if try container.decodeNil(forKey: .initiator) {
            context.initiator = .user
        } else {
            context.initiator = try checking(.initiator, container, page).map { .origin($0) } ?? .opaque
        }
        context.isTopLevelNavigation =
            try container.decodeIfPresent(Bool.self, forKey: .navigation) ?? !hasTopLevel
        for text in try container.decodeIfPresent([String].self, forKey: .redirects) ?? [] {
            do {
                context.redirects.append(try RequestURL(text))
            } catch {
                throw DecodingError.dataCorruptedError(
                    forKey: .redirects, in: container, debugDescription: "\(text): \(error.description)")
            }
        }
        // Whatever is requested within a page that is same-site with nothing is cross-site, whoever asks.
        if isOpaque, !context.isTopLevelNavigation { context.initiator = .opaque }
    }

    /// The URL of a page; `nil` for one that is same-site with nothing that carries cookies: `about:blank`, `data:`,
    /// `file:`, an extension's, or `null`, which is how an opaque origin is serialized.
    private static func page(_ text: String) throws(RequestURLError) -> RequestURL? {
        guard text != "null" else { return nil }
        do {
            return try RequestURL(text)
        } catch {
            guard error.code == .schemeUnsupported else { throw error }
            // A blob's origin is that of the page that made it.
            guard text.prefix(5).lowercased() == "blob:" else { return nil }
            return try? RequestURL(String(text.dropFirst(5)))
        }
    }

    private static func checking<Key, Value>(
        _ key: Key, _ container: KeyedDecodingContainer<Key>, _ read: (String) throws(RequestURLError) -> Value
    ) throws -> Value {
        do {
            return try read(try container.decode(String.self, forKey: key))
        } catch let error as RequestURLError {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: container, debugDescription: error.description)
        }
    }
}
