import HTTPTypes
import NIOCore

/// What the service counts.
final class ServiceMetrics: Sendable {
    func record(route: String?, method: HTTPRequest.Method, status: HTTPResponse.Status, took: TimeAmount) {
    }
}
