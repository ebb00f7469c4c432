import Captures
import CookieModel
import Foundation
import SessionOperations

extension ServedJar {
    func export(_ order: ExportOrder, to destination: () throws -> ExportDestination) throws -> ExportReport {
        var question = order.request.map { JarQuestion(about: $0) } ?? JarQuestion()
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
