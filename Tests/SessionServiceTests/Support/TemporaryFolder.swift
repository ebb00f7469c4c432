import Foundation

/// A folder that lasts as long as this object. Its path is short, so that a socket in it has one, too.
final class TemporaryFolder: Sendable {
    let path: String

    init() {
        path = "/tmp/crumb-\(UInt64.random(in: 0 ... .max))"
        try? FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    func text(_ name: String) throws -> String { try String(contentsOfFile: file(name), encoding: .utf8) }

    func mode(_ name: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: file(name))
        return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? -1
    }
}
