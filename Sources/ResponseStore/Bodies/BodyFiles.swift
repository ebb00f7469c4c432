import Platform
import StoreEngine
import WebPrimitives

/// The files with large bodies: `bodies/ab/abcdef0123456789`, named by random numbers.
///
/// A file belongs to the cache as soon as a row names it. A process that is killed before leaves a file without a row,
/// which the sweep removes.
struct BodyFiles: Sendable {
    /// How many folders share the files.
    static let shardCount = 256
    /// How many seconds a file without a row may be in use by a writer.
    private static let graceTime: Int64 = 3600

    private let folder: String

    init(in folder: String) {
        self.folder = "\(folder)/bodies"
    }

    /// Creates an empty file with mode 0600.
    func create() throws(SystemError) -> (number: Int64, descriptor: Descriptor) {
        let number = Int64.random(in: 0 ... .max)
        let path = path(number)
        let flags = O_WRONLY | O_CREAT | O_EXCL
        do throws(SystemError) {
            return (number, try Descriptor(opening: path, flags))
        } catch {
            guard error.number == ENOENT else { throw error }
            PrivateFile.createFolders(above: path)
            do throws(SystemError) {
                return (number, try Descriptor(opening: path, flags))
            } catch {
                throw error.number == ENOENT
                    ? FileSystem.changingFailure(CacheFolder.nearest(FileSystem.folder(of: path))) ?? error : error
            }
        }
    }

    /// Opens a file for reading; `nil` if it is missing.
    func open(_ number: Int64) -> Descriptor? {
        try? Descriptor(opening: path(number), O_RDONLY | O_NOFOLLOW)
    }

    func remove(_ number: Int64) {
        unlink(path(number))
    }

    /// Some of the files of a shard that have not been written to for an hour. If the clock was changed, too many may
    /// count as such: then a response that is just being stored is lost.
    func abandonable(inShard shard: Int, limit: Int, now: Timestamp) -> [Int64] {
        let names = numbers(inShard: shard)
        guard !names.isEmpty else { return [] }
        let start = Int.random(in: 0..<names.count)
        return (0..<min(limit, names.count)).map { names[(start + $0) % names.count] }.filter { number in
            guard let written = FileSystem.modificationTime(path(number)) else { return false }
            return abs(now.seconds - written) > BodyFiles.graceTime
        }
    }

    /// The files of a shard.
    func numbers(inShard shard: Int) -> [Int64] {
        FileSystem.names(in: "\(folder)/\(BodyFiles.hexadecimal(UInt64(shard), digits: 2))")
            .compactMap { UInt64($0, radix: 16) }.map(Int64.init(bitPattern:))
    }

    private func path(_ number: Int64) -> String {
        let name = BodyFiles.hexadecimal(UInt64(bitPattern: number), digits: 16)
        return "\(folder)/\(name.suffix(2))/\(name)"
    }

    private static func hexadecimal(_ number: UInt64, digits: Int) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: digits - text.count) + text
    }
}
