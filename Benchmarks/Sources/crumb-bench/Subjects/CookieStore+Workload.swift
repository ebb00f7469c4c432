import CookieModel
import DriverSupport

extension Timestamp {
    /// The present, asked for at every operation, as an application does.
    @inline(__always)
    static var present: Timestamp { Timestamp(microseconds: ProcessClock.microsecondsSinceEpoch) }
}

extension CookieStore {
    /// A store with the cookies of a workload's jar.
    init(_ jar: LineFile) throws {
        self.init()
        try jar.forEachPair { url, fieldValue in
            let context = RequestContext(url: try RequestURL(Octets(Array(url))))
            receive(Octets(Array(fieldValue)), in: context, now: .present)
        }
    }
}
