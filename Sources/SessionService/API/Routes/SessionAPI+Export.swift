import Captures
import CookieModel
import HTTPTypes
import Hummingbird
import NIOCore
import SessionOperations
import SessionStore

extension ExportDocument {
    /// The request that the cookies are for; required if the format is for one URL.
    fileprivate func request(_ format: ExportFormat) throws(OperationError) -> CookieModel.RequestContext? {
        if let url = members.url { return try details.requestContext(for: url) }
        guard details == RequestDetails() else {
            throw .bodyInvalid("url: method, topLevel, initiator and navigation describe a request; add its URL")
        }
        guard format.scope == .anySite else {
            throw OperationError(
                .urlMissing, "url: '\(format.rawValue)' contains the cookies for one URL; add it")
        }
        return nil
    }

    /// All other conditions.
    fileprivate func selection() throws(OperationError) -> CookieSelection {
        var hosts: [WebHost] = []
        for (index, site) in (members.sites ?? []).enumerated() {
            guard let host = CookieFilter.domain(named: site) else {
                throw .bodyInvalid("sites.[\(index)]: this is not a host name")
            }
            hosts.append(host)
        }
        return CookieSelection(
            sites: hosts, names: Set((members.names ?? []).map { Octets($0) }), isHTTPOnly: members.httpOnly,
            isPersistent: members.session.map { !$0 })
    }
}

extension SessionAPI {
    var exportRoutes: [ServiceRoute] {
        [
            ServiceRoute(.export) { request, context in
                let asked = try await request.document(ExportDocument.self, in: context)
                let format = try ExportFormat.named(asked.members.format, member: "format")
                let description = try asked.request(format)
                let selection = try asked.selection()
                let jar = try jar(in: context)
                let now = now()
                // The report precedes the file, so the cookies are read twice rather than kept.
                let (report, stream) = try await blocking {
                    func stream() throws -> ExportStream {
                        try ExportStream(of: jar, format, for: description, selection, now: now)
                    }
                    return (try stream().report(), try stream())
                }
                if asked.members.report == true { return .json(report) }
                context.audit(
                    SecretAccess(.export, jar: jar.name, site: description?.url.host.description))
                let line = asked.members.reportFirst == true ? JSONText.of(report) + [UInt8(ascii: "\n")] : []
                return Response(
                    status: .ok,
                    headers: [
                        .contentType: line.isEmpty ? format.mediaType : ExportReport.mediaType,
                        .cacheControl: "no-store",
                        .cookieExport: report.fieldValue,
                    ],
                    body: ResponseBody { writer in
                        if !line.isEmpty { try await writer.write(ByteBuffer(bytes: line)) }
                        while let piece = try await blocking({ try stream.next() }) {
                            try await writer.write(ByteBuffer(bytes: piece))
                        }
                        try await writer.finish(nil)
                    })
            }
        ]
    }
}

extension ExportFormat {
    /// The media type of the exported file.
    fileprivate var mediaType: String {
        switch self {
        case .storageState, .har, .httpieSession, .webDriver: "application/json"
        case .json: "application/x-ndjson"
        default: "text/plain"
        }
    }
}

extension ExportReport {
    /// The media type of a report followed by the exported file.
    fileprivate static let mediaType = "application/vnd.crumb.export"

    /// The report's numbers as a dictionary of RFC 9651.
    fileprivate var fieldValue: String {
        "written=\(written), expired=\(expired), left-out=\(leftOut.count), not-kept=\(notKept.count), "
            + "unreadable=\(unreadable.count)"
    }
}

extension HTTPField.Name {
    fileprivate static var cookieExport: HTTPField.Name { HTTPField.Name("Crumb-Export") ?? .from }
}
