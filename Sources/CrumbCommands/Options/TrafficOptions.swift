import ArgumentParser
import GatewayModel
import SessionOperations

/// Whether a gateway records its traffic, and whether a recording answers requests.
struct TrafficOptions: ParsableArguments {
    @Option(
        help: .file(
            "Record requests and responses in this new file, as HAR 1.2, without the values of cookies and credentials."
        ))
    var record: String?

    @Flag(
        help: """
            Record the values of cookies and credentials, too. Anyone who can read the file has the session.
            """)
    var recordSecrets = false

    @Option(
        help: .file(
            "Answer requests from this HAR, where it has a response. Others go to the server. Requests over https need "
                + "--intercept."))
    var replay: String?

    @Flag(help: "Connect to no server. A request that --replay does not answer gets status 504.")
    var offline = false

    func validate() throws {
        guard !recordSecrets || record != nil else {
            throw ValidationError("--record-secrets: name the file with --record.")
        }
        guard !offline || replay != nil else {
            throw ValidationError("--offline: name the recording that answers requests with --replay.")
        }
    }

    /// Applies the options.
    func apply(to job: inout GatewayJob) {
        job.recordPath = record
        job.recordsSecrets = recordSecrets
        job.replayPath = replay
        job.settings.isOffline = offline
    }
}
