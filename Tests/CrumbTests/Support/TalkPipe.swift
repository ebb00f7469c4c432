import Foundation
import Platform

/// A named pipe that processes write to, read as it comes.
final class TalkPipe {
    let path: String
    private let descriptor: Int32
    private var text = ""

    /// - Parameter staysOpen: whether the pipe waits for further writers when those that had it open have ended.
    init(_ path: String, staysOpen: Bool = false) throws {
        self.path = path
        guard mkfifo(path, 0o600) == 0 else { throw POSIXError(.EIO) }
        // Without waiting for a writer, which is started later.
        descriptor = open(path, (staysOpen ? O_RDWR : O_RDONLY) | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0, fcntl(descriptor, F_SETFL, 0) == 0 else { throw POSIXError(.EIO) }
    }

    deinit { close(descriptor) }

    /// Waits until the process says something; `false` if it ends without.
    func says(_ wanted: String) -> Bool {
        while !text.contains(wanted) {
            guard readMore() else { return false }
        }
        text = text.range(of: wanted).map { String(text[$0.upperBound...]) } ?? ""
        return true
    }

    /// Waits for a line that begins with something; `nil` if the process ends without.
    func line(beginning: String) -> String? {
        while true {
            while let end = text.firstIndex(of: "\n") {
                let line = String(text[..<end])
                text = String(text[end...].dropFirst())
                if line.hasPrefix(beginning) { return line }
            }
            guard readMore() else { return nil }
        }
    }

    /// Waits for the end of all that write there.
    func awaitEnd() {
        while readMore() {}
    }

    private func readMore() -> Bool {
        // A test that fails should end all the same.
        var input = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&input, 1, 300_000) != 0 else { return false }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(descriptor, &buffer, buffer.count)
        if count > 0 { text += String(decoding: buffer[..<count], as: UTF8.self) }
        return count > 0 || count < 0 && errno == EINTR
    }
}
