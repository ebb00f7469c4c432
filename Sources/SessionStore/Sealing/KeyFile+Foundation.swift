import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A key file: one line, `crumb-key-1:` and the key in base64. Refused where others may read it.
enum KeyFile {
    private static let mark = "crumb-key-1:"

    static func load(_ path: String, mayCreate: Bool) throws(SessionStoreError) -> SealingKey {
        if let key = try read(path) { return key }
        guard mayCreate else {
            throw SessionStoreError(
                .keyMissing, path,
                "the key that the database was sealed with is not here; put it back, or name it in CRUMB_KEY_FILE")
        }
        let bytes = (0..<32).map { _ in UInt8.random(in: 0...255) }
        PrivateFile.createFolders(above: path)
        let failure = PrivateFile.publish(Array("\(mark)\(Data(bytes).base64EncodedString())\n".utf8), to: path)
        guard failure == 0 || failure == EEXIST else {
            throw SessionStoreError(
                failure == ENOSPC ? .diskFull : .keyUnavailable, path,
                "the key file cannot be made: \(PrivateFile.message(failure))")
        }
        // Read back, also where another process was first: its key is the one that counts.
        guard let key = try read(path) else {
            throw SessionStoreError(.keyUnavailable, path, "the key file was removed while it was made")
        }
        return key
    }

    private static func read(_ path: String) throws(SessionStoreError) -> SealingKey? {
        guard let bytes = PrivateFile.contents(path, limit: 1024) else {
            let failure = errno
            if failure == ENOENT { return nil }
            throw SessionStoreError(
                .keyUnavailable, path, "the key file cannot be read: \(PrivateFile.message(failure))")
        }
        if let permissions = PrivateFile.permissions(path), permissions & 0o077 != 0 {
            throw SessionStoreError(.keyExposed, path, "other users may read the key file; run: chmod 600 '\(path)'")
        }
        let text = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard text.hasPrefix(mark), let data = Data(base64Encoded: String(text.dropFirst(mark.count))),
            let key = SealingKey(bytes: Array(data))
        else {
            throw SessionStoreError(.keyUnavailable, path, "the file is not a Crumb key")
        }
        return key
    }
}
