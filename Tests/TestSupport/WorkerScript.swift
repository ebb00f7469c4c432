/// What one thread of a worker process writes, step by step: a function of the step's number alone, so that a test can
/// tell everything that a jar must hold from how far each thread came.
public struct WorkerScript: Sendable {
    /// The host that this thread alone gets responses from.
    public let host: String

    /// The script of a thread of a worker.
    public init(worker: Int, thread: Int) {
        host = "w\(worker)t\(thread).example"
    }

    /// The responses that make up one transaction, as their Set-Cookie lines; steps count from 1.
    public func responses(of step: Int) -> [[String]] {
        // Long enough that the log fills up and is moved into the database while a worker runs.
        let value = "\(step)-\(String(repeating: "x", count: 150 + step % 300))"
        let first = "first=\(value); Path=/"
        let last = "last=\(value); Path=/; Max-Age=100000"
        let slot = "slot\(step % 40)"
        if step % 5 == 0 {
            return [[first]] + (0..<12).map { ["batch\($0)=\(value); Path=/b\($0)"] } + [[last]]
        }
        if step % 7 == 0 { return [[first, "\(slot)=; Path=/; Max-Age=0", last]] }
        return [[first, "\(slot)=\(value); Path=/; HttpOnly", last]]
    }

    /// The step that wrote a value.
    public static func step(of value: String) -> Int? {
        Int(value.prefix { $0 != "-" })
    }
}

/// What a jar must hold of one thread's host, and how many changes led there, when exactly its first steps are there.
public struct WorkerState: Sendable {
    /// Whose steps these are.
    public let script: WorkerScript
    /// How many steps are there.
    public private(set) var step = 0
    /// The values by name.
    public private(set) var cookies: [String: String] = [:]
    /// How many entries the journal has of them.
    public private(set) var changes = 0

    /// The state before the first step.
    public init(_ script: WorkerScript) {
        self.script = script
    }

    /// Does the steps up to `last`.
    public mutating func advance(to last: Int) {
        while step < last {
            step += 1
            for line in script.responses(of: step).joined() {
                let parts = line.split(separator: ";")[0].split(separator: "=", omittingEmptySubsequences: false)
                let name = String(parts[0])
                if line.hasSuffix("Max-Age=0") {
                    if cookies.removeValue(forKey: name) != nil { changes += 1 }
                } else {
                    cookies[name] = String(parts[1])
                    changes += 1
                }
            }
        }
    }
}
