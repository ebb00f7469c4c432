import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Platform

/// Why a request got no answer.
package enum HTTPClientFailure {
    /// Describes an error in a way that helps a user, as a clause. Errors of the client may quote the request.
    package static func reason(_ error: any Error) -> String {
        switch error {
        case let error as HTTPClientError where error == .connectTimeout || error == .readTimeout:
            "it did not answer in time"
        case let error as HTTPClientError where error == .deadlineExceeded: "it did not answer in time"
        case let error as HTTPClientError where error == .remoteConnectionClosed:
            "it closed the connection without an answer"
        case let error as NIOConnectionError: reason(error)
        case let error as IOError: reason(error.errnoCode)
        case is NIOSSLExtraError: "its certificate is for another host; check the name"
        // The library distinguishes its reasons only in text.
        case let error as NIOSSLError where "\(error)".contains("CERTIFICATE_VERIFY_FAILED"):
            "the certificate is not trusted: check the host, or add its authority to the client's configuration"
        case is NIOSSLError: "no secure connection can be made (TLS)"
        case is UnusableCertificate: "the client's certificate or its key cannot be read; log in with other files"
        case is CancellationError: "the request was cancelled"
        case is TooLate: "making the connection took too long, and nothing was sent"
        case is HTTPParserError: "its answer is not HTTP; check the scheme, the host and the port"
        case is HTTPClientError: "the connection broke, or its answer is not HTTP; check the address, and try again"
        default: "the connection broke; check the address, and try again"
        }
    }

    private static func reason(_ error: NIOConnectionError) -> String {
        // A name has several addresses: the failure of one is as informative as those of the others.
        let failures = error.connectionErrors.map(\.error)
        if let failure = failures.lazy.compactMap({ $0 as? IOError }).first { return reason(failure.errnoCode) }
        if failures.contains(where: { $0 is ChannelError }) { return "it did not answer in time" }
        return "its name cannot be resolved; check the name and the network"
    }

    private static func reason(_ number: CInt) -> String {
        switch number {
        case ECONNREFUSED:
            "no server listens there (connection refused); check the address, and whether the server runs"
        case ENOENT: "the socket does not exist; check the address, and whether the server runs"
        default: "the connection failed (\(SystemError(number).message))"
        }
    }
}

/// The client's certificate or its key cannot be read.
struct UnusableCertificate: Error {}

/// The time to send a request was over when the connection was there.
struct TooLate: Error {}
