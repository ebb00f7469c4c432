package import Captures
package import CookieModel

/// A captured response as the cookie rules read it.
package struct ReceivedCapture {
    package let response: ReceivedResponse
    /// When its lifetimes begin.
    package let time: Timestamp
    /// When its answer had come.
    package let answered: Timestamp
    /// For a response whose time is unknown, the time after which stored cookies stay as they are.
    package let sparing: Timestamp?
    /// The context of its request, and what told it.
    package let context: CapturedContext
}

extension CapturedResponse {
    /// The response for the cookie rules; `nil` if its URL carries no cookies, which the report then says.
    ///
    /// - Parameters:
    ///   - policy: the rules of the store that receives it.
    ///   - lastTime: the latest time in the capture so far, which a response without a time takes.
    package func received(
        _ options: CaptureImport.Options, policy: CookiePolicy, lastTime: Timestamp? = nil, now: Timestamp,
        _ report: inout ImportReport
    ) -> ReceivedCapture? {
        do {
            let context = try context(topLevel: options.topLevel.flatMap { try? RequestURL($0) }, policy: policy)
            if lacksTime { report.noteUnknownTime(at: place) }
            let time = time ?? (lacksTime ? lastTime : nil)
            return ReceivedCapture(
                response: ReceivedResponse(context: context.request, status: status, setCookie: setCookie),
                time: options.receivedNow ? now : min(time ?? now, now),
                answered: min(answerTime ?? time ?? now, now),
                sparing: lacksTime && !options.receivedNow ? lastTime ?? .distantPast : nil, context: context)
        } catch {
            // Most entries of a capture have no cookies, so that their URLs do not matter.
            guard !setCookie.isEmpty || options.wantsCookies(of: self) else { return nil }
            report.append(
                ImportReport.Failure(
                    code: "url-invalid", message: "\(place): \(error.description)", source: place.source))
            return nil
        }
    }
}
