import CoreFoundation
import Foundation
import SessionOperations

/// The part of a request's body that can be sent more than once.
enum RequestBody {
    /// Whether a file gives the same when it is read a second time. One that is not there is curl's to complain about.
    static func isReplayable(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return true }
        return status.st_mode & S_IFMT == S_IFREG
    }

    /// Standard input, all of it, where it can be read from the start again and nobody else can read it.
    ///
    /// - Returns: a descriptor, for the caller to close.
    static func bufferedStandardInput() throws -> Int32 {
        let descriptor = anonymousFile()
        guard descriptor >= 0 else {
            throw Problem(
                .inputUnreadable, "standard input cannot be kept for redirects: \(String(cString: strerror(errno)))")
        }
        do {
            try InputFile("-").forEachChunk { try Console.write(Array($0), to: descriptor) }
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    private static func anonymousFile() -> Int32 {
        #if os(Linux)
            // In memory, the user's alone, and without a name at once.
            let name = "/crumb-\(UInt64.random(in: .min ... .max))"
            let shared = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0o600)
            if shared >= 0 {
                shm_unlink(name)
                _ = fcntl(shared, F_SETFD, FD_CLOEXEC)
                return shared
            }
        #endif
        // Elsewhere shared memory cannot be read as a file is.
        let folder = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
        var template = Array("\(folder)/crumb.XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { return descriptor }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        unlink(template)
        return descriptor
    }
}
