import Captures
import CookieModel
import Foundation
import RequestDecoration
import SessionOperations

extension RemoteJar {
    func export(_ order: ExportOrder, to destination: () throws -> ExportDestination) throws -> ExportReport {
        var question = order.request.map { JarRequestBody(about: $0) } ?? JarRequestBody()
        question.format = order.format.rawValue
        if !order.selection.sites.isEmpty { question.sites = order.selection.sites.map(\.description) }
        if !order.selection.names.isEmpty { question.names = order.selection.names.map(\.description).sorted() }
        question.httpOnly = order.selection.isHTTPOnly
        question.session = order.selection.isPersistent.map { !$0 }
        question.reportFirst = true
        return try withoutActuallyEscaping(destination) { destination in
            let writing = ExportWriting(destination: destination)
            let request = try ServiceRequest.post("jars", name, "export", document: question)
            guard try ifThere({ try service.send(request) { try writing.take($0) } }) != nil else {
                var exporter = FileExporter(
                    order.format, to: try destination(), host: order.request?.url.host, now: .now)
                return try exporter.finish()
            }
            var report = try service.decoded(writing.report, as: ExportReport.self)
            report.output = try writing.finish(isNothing: report.isNothing)
            return report
        }
    }
}

/// An export that comes: the report in a line, and the file behind it.
private final class ExportWriting {
    private let open: () throws -> ExportDestination
    private var destination: ExportDestination?
    /// The report in JSON.
    private(set) var report: [UInt8] = []

    init(destination: @escaping () throws -> ExportDestination) {
        open = destination
    }

    func take(_ bytes: [UInt8]) throws {
        var bytes = bytes[...]
        if destination == nil {
            let end = bytes.firstIndex(of: UInt8(ascii: "\n"))
            report += bytes[..<(end ?? bytes.endIndex)]
            guard let end else { return }
            bytes = bytes[(end + 1)...]
            destination = try open()
        }
        destination?.bytes += bytes
        try destination?.writeIfFull()
    }

    /// Ends the file; its name.
    ///
    /// - Parameter isNothing: whether what was there stays, since nothing is written.
    func finish(isNothing: Bool) throws -> String? {
        if !isNothing { try destination?.finish() }
        return destination?.file
    }
}

/// The header fields that a running service keeps with a jar.
extension RemoteJar {
    func headerFields(showingValues: Bool) throws -> [HeaderFieldReport] {
        let query: [(name: String, value: String?)] = [("values", showingValues ? "true" : nil)]
        return try answer(.get("jars", name, "header-fields", query: query), as: HeaderFieldList.self)?.fields ?? []
    }

    func setHeaderField(_ rule: FieldRule) throws -> HeaderFieldReport {
        struct Document: Encodable {
            let scope: String?
            let valueBase64: String
        }
        return try answerMakingJar(
            .put(
                "jars", name, "header-fields", rule.name,
                document: Document(scope: rule.scope?.description, valueBase64: rule.value.base64)))
    }

    func removeHeaderField(named field: String, scope: URLScope?) throws -> HeaderFieldReport? {
        // No name is a path of its own, and no field has none.
        guard !field.isEmpty else { return nil }
        do {
            return try answer(
                .delete("jars", name, "header-fields", field, query: [("scope", scope?.description)]))
        } catch let refusal as ServiceRefusal where refusal.code == FailureKind.fieldNotFound.code {
            return nil
        }
    }
}

/// The web storage that a running service keeps with a jar.
extension RemoteJar {
    func webStorage(ofOrigin origin: String?, showingValues: Bool) throws -> WebStorageList {
        let query: [(name: String, value: String?)] = [("origin", origin), ("values", showingValues ? "true" : nil)]
        return try answer(.get("jars", name, "storage", query: query)) ?? WebStorageList(origins: [])
    }

    func removeWebStorage(ofOrigin origin: String?, key: String?) throws -> WebStorageRemoval {
        try answer(.delete("jars", name, "storage", query: [("origin", origin), ("key", key)]))
            ?? WebStorageRemoval(jar: name, removed: 0)
    }
}

/// What a service is asked about a jar: the members that its routes know, those that are given.
struct JarRequestBody: Encodable {
    var url: String?
    var urls: [String]?
    var method: String?
    var topLevel: String?
    var initiator: String?
    var navigation: Bool?
    /// Whether it is about what a script sees.
    var script: Bool?
    var setCookieBase64: [String]?
    var write: String?
    var verify: Bool?
    var handler: String?
    var format: String?
    var sites: [String]?
    var names: [String]?
    var httpOnly: Bool?
    var session: Bool?
    var reportFirst: Bool?

    init() {}

    /// A question about a request.
    init(about request: RequestContext) {
        describe(request)
        url = request.url.description
    }

    /// A question about the scripts of pages that are alike but for their URLs.
    init(aboutPages pages: [RequestContext]) {
        if let page = pages.first { describe(page) }
        urls = pages.map(\.url.description)
    }

    private mutating func describe(_ request: RequestContext) {
        method = request.method
        topLevel = request.topLevel?.description
        switch request.initiator {
        case .topLevel, .opaque: initiator = nil
        case .user: initiator = "user"
        case .origin(let url): initiator = url.description
        }
        navigation = request.isTopLevelNavigation
    }

    /// The members of a request as parameters of a query.
    var parameters: [(name: String, value: String?)] {
        [
            ("url", url), ("method", method), ("topLevel", topLevel), ("initiator", initiator),
            ("navigation", navigation.map { "\($0)" }),
        ]
    }
}

extension Octets {
    /// The octets in base64.
    var base64: String { Data(self).base64EncodedString() }
}
