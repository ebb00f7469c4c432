package import Captures
package import CookieModel

extension CapturedResponse {
    /// The response for the cookie rules, and the time from which its lifetimes count; `nil` where it sets nothing, or
    /// where its URL is none that a cookie could come from, which the report then says.
    package func received(
        countingFromNow: Bool, now: Timestamp, _ report: inout ImportReport
    ) -> (response: ReceivedResponse, time: Timestamp)? {
        // Most entries of a capture set nothing.
        guard !setCookie.isEmpty else { return nil }
        do {
            var context = RequestContext(url: try RequestURL(url))
            context.interface = interface
            let response = ReceivedResponse(context: context, status: status, setCookie: setCookie)
            return (response, countingFromNow ? now : min(time ?? now, now))
        } catch {
            report.failures.append(
                ImportReport.Failure(
                    code: "url-invalid", message: "\(place): \(error.description)", source: place.source))
            return nil
        }
    }
}
