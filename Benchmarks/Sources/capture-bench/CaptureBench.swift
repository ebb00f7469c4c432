import Captures
import DriverSupport
import Glibc

/// Reads one capture, without storing anything, and says in a line of JSON what that took.
@main
enum CaptureBench {
    static func main() throws {
        guard CommandLine.arguments.count == 2 else { throw DriverError.usage("capture-bench FILE") }
        let path = CommandLine.arguments[1]
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw DriverError.unreadable(path) }
        defer { close(descriptor) }

        var counts = Counts()
        var reader = CaptureReader(source: path, url: "https://example.com/")
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        let start = ProcessClock.cpuSeconds
        while case let count = read(descriptor, &buffer, buffer.count), count > 0 {
            reader.read(buffer.span.extracting(0..<count)) { counts.add($0) }
        }
        reader.finish { counts.add($0) }
        let seconds = ProcessClock.cpuSeconds - start
        print(
            "{\"seconds\":\(seconds),\"responses\":\(counts.responses),\"cookies\":\(counts.cookies),"
                + "\"failures\":\(counts.failures),\"peakKibibytes\":\(ProcessClock.peakKibibytes)}")
    }
}

private struct Counts {
    var responses = 0
    var cookies = 0
    var failures = 0

    mutating func add(_ item: CaptureItem) {
        switch item {
        case .response(let response):
            responses += 1
            cookies += response.setCookie.count
        case .cookie: cookies += 1
        case .storage: break
        case .failure: failures += 1
        }
    }
}
