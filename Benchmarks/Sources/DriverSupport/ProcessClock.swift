import Glibc

/// What this process used so far.
public enum ProcessClock {
    /// CPU seconds of all threads: what other processes do on the machine does not count.
    public static var cpuSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    /// Seconds by the wall, for work that waits: for the disk, for another process.
    public static var wallSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    /// Microseconds since 1970: what an application passes to the library as the present.
    @inline(__always)
    public static var microsecondsSinceEpoch: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }

    /// The most memory that was resident at once, in kibibytes. `getrusage` would count what the process had before
    /// it became this program.
    public static var peakKibibytes: Int {
        var peak = 0
        try? LineFile("/proc/self/status").forEach { line in
            let text = String(decoding: line, as: UTF8.self)
            guard text.hasPrefix("VmHWM:") else { return }
            peak = text.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap { Int($0) } ?? 0
        }
        return peak
    }
}
