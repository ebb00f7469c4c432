/// A line of the service's answer to a capture that is followed while it is read: how far it has come, and at last the
/// report.
package struct CaptureProgressLine: Codable {
    package struct Progress: Codable, Sendable {
        package let bytes: Int
        package let entries: Int
        package let cookies: Int

        package init(bytes: Int, entries: Int, cookies: Int) {
            self.bytes = bytes
            self.entries = entries
            self.cookies = cookies
        }
    }

    package var progress: Progress?
    package var report: ImportReport?
    package var problem: ProblemReport?

    package init(progress: Progress? = nil, report: ImportReport? = nil, problem: ProblemReport? = nil) {
        self.progress = progress
        self.report = report
        self.problem = problem
    }
}
