import Foundation
import Platform

/// A file system of a few kilobytes, in memory.
public final class SmallDisk {
    /// Whether small file systems can be mounted: only by root.
    public static let isAvailable: Bool = {
        guard geteuid() == 0, let disk = try? SmallDisk(kilobytes: 64) else { return false }
        return disk.isMounted
    }()

    /// The folder where it is mounted.
    public let path: String
    /// Whether that succeeded.
    public private(set) var isMounted = false

    /// Mounts a file system of that size.
    public init(kilobytes: Int) throws {
        path = FileManager.default.temporaryDirectory.appending(path: "crumb-disk-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        isMounted = run("mount", ["-t", "tmpfs", "-o", "size=\(kilobytes)k,mode=0700", "tmpfs", path])
    }

    deinit {
        if isMounted { _ = run("umount", ["-l", path]) }
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The path of a file on it.
    public func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Takes all room but so many kilobytes.
    public func fill(leaving kilobytes: Int = 0) throws {
        // A process that another test starts meanwhile must not hold on to it: the room would stay taken.
        let filler = open(file("filler"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        defer { close(filler) }
        let block = [UInt8](repeating: 1, count: 1024)
        var written = 0
        while write(filler, block, block.count) == block.count { written += 1 }
        ftruncate(filler, off_t(max(0, written - kilobytes) * 1024))
    }

    /// Gives the room back.
    public func empty() {
        unlink(file("filler"))
    }

    /// Makes the whole disk read-only.
    public func protect() -> Bool {
        run("mount", ["-o", "remount,ro", path])
    }

    private func run(_ program: String, _ arguments: [String]) -> Bool {
        let environment = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"]
        let scratch = FileManager.default.temporaryDirectory.appending(path: "crumb-mount-\(UUID().uuidString)").path
        try? FileManager.default.createDirectory(atPath: scratch, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: scratch) }
        let process = try? RunningProcess(program, arguments, environment: environment, scratch: scratch)
        return process?.wait().status == 0
    }
}
