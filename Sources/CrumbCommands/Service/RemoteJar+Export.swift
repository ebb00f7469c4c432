import Captures
import CookieModel
import RequestDecoration
import SessionClient
import SessionOperations

extension RemoteJar {
    func export(_ order: ExportOrder, to destination: () throws -> ExportDestination) throws -> ExportReport {
        let document = ExportDocument(
            format: order.format.rawValue, url: order.request?.url.description,
            order.request.map { RequestDetails($0) } ?? RequestDetails(),
            sites: order.selection.sites.isEmpty ? nil : order.selection.sites.map(\.description),
            names: order.selection.names.isEmpty ? nil : order.selection.names.map(\.description).sorted(),
            httpOnly: order.selection.isHTTPOnly, session: order.selection.isPersistent.map { !$0 }, reportFirst: true)
        return try withoutActuallyEscaping(destination) { destination in
            let writing = ExportWriting(destination: destination)
            guard try ifThere({ try service.stream(.export(document, of: name)) { try writing.take($0) } }) != nil
            else {
                var exporter = FileExporter(
                    order.format, to: try destination(), host: order.request?.url.host, now: now)
                return try exporter.finish()
            }
            var report = try service.decoded(writing.report, as: ExportReport.self)
            report.output = try writing.finish(isNothing: report.isNothing)
            return report
        }
    }
}

/// An export that arrives: the report in a line, and the file after it.
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

    /// Ends the file and returns its name.
    ///
    /// - Parameter isNothing: whether nothing was written, so that an existing file is kept.
    func finish(isNothing: Bool) throws -> String? {
        if !isNothing { try destination?.finish() }
        return destination?.file
    }
}

extension RequestDetails {
    /// The details of a request that a service gets in addition to its URL.
    init(_ request: RequestContext) {
        let initiator: String? =
            switch request.initiator {
            case .topLevel, .opaque: nil
            case .user: "user"
            case .origin(let url): url.description
            }
        self.init(
            method: request.method, topLevel: request.topLevel?.description, initiator: initiator,
            navigation: request.isTopLevelNavigation)
    }
}
