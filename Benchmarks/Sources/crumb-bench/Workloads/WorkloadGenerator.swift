import DriverSupport
import Glibc

/// Writes the files that all drivers read; the same bytes every time.
struct WorkloadGenerator {
    private let folder: String

    init(folder: String) {
        self.folder = folder
    }

    /// Writes `lines` Set-Cookie lines, and for each size a jar with request URLs. What is there already stays.
    func generate(lines: Int, urls: Int, jarSizes: [Int]) throws {
        let workload = Workload(folder: folder, size: 0)
        try writeUnlessThere(workload.lines.path) {
            var random = RandomSource(seed: 6265)
            let sites = (0..<4000).map { Vocabulary.hosts(of: Vocabulary.registrableDomain($0, &random), &random) }
            return (0..<lines).map { _ in
                let line = ResponseLine(from: random.pick(sites), &random)
                return "\(line.url(&random))\t\(line.fieldValue(&random))"
            }
        }
        for size in jarSizes {
            let workload = Workload(folder: folder, size: size)
            guard access(workload.urls.path, F_OK) != 0 || access(workload.jar.path, F_OK) != 0 else { continue }
            let jar = JarWorkload(size: size)
            try writeUnlessThere(workload.jar.path) { jar.lines.map { "\($0.url)\t\($0.fieldValue)" } }
            try writeUnlessThere(workload.urls.path) { jar.urls(urls) }
        }
    }

    private func writeUnlessThere(_ path: String, _ lines: () -> [String]) throws {
        guard access(path, F_OK) != 0 else { return }
        // Under another name until it is whole.
        guard let file = fopen("\(path).part", "w") else { throw DriverError.unreadable(path) }
        for line in lines() {
            fputs(line, file)
            putc(0x0A, file)
        }
        guard fclose(file) == 0, rename("\(path).part", path) == 0 else { throw DriverError.unreadable(path) }
    }
}
