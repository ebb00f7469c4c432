package import CookieModel
package import Logging
import Platform
import WebPrimitives

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Logs to standard error, a JSON object a line, so that no text in it can pass for another line; for a person, a line of
/// text with control characters made visible.
package struct ServiceLogHandler: LogHandler {
    package var logLevel = Logger.Level.info
    package var metadata: Logger.Metadata = [:]
    package var metadataProvider: Logger.MetadataProvider?
    private let label: String
    private let isForPerson: Bool
    private let now: @Sendable () -> Timestamp
    private let write: @Sendable ([UInt8]) -> Void

    /// - Parameters:
    ///   - isForPerson: whether it writes text.
    ///   - now: the clock.
    ///   - write: takes a line, whole.
    package init(
        label: String, isForPerson: Bool = false, now: @escaping @Sendable () -> Timestamp,
        write: @escaping @Sendable ([UInt8]) -> Void = { try? Descriptor.standardError.write($0) }
    ) {
        self.label = label
        self.isForPerson = isForPerson
        self.now = now
        self.write = write
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        var fields = metadata
        if let provided = metadataProvider?.get() { fields.merge(provided) { $1 } }
        if let own = event.metadata { fields.merge(own) { $1 } }
        var line: [String: String] = fields.mapValues { "\($0)" }
        guard !isForPerson else {
            let level = event.level == .info ? "" : "\(event.level.rawValue): "
            let details = line.sorted { $0.key < $1.key }.map { " \($0)=\($1)" }.joined()
            return write(Array("\(Octets("\(level)\(event.message)\(details)"))\n".utf8))
        }
        line["time"] = now().rfc3339
        line["level"] = event.level.rawValue
        line["message"] = event.message.description
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let bytes = try? encoder.encode(line) else { return }
        write(Array(bytes) + [UInt8(ascii: "\n")])
    }
}
