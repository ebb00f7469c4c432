// 7b: why a cookie was stored or sent, a scenario over two weeks, and suffixes of one's own.
import AppSupport
import CookieModel
import CookieScenarios
import PublicSuffix
import WebPrimitives

@main
struct Explanations {
    static func main() throws {
        let list = try PublicSuffixList.bundled.adding(["apps.example"])
        let page = RequestContext(url: try RequestURL("https://one.apps.example/"))
        let frame = RequestContext(
            url: page.url, topLevel: try RequestURL("https://news.example/"),
            initiator: .origin(try RequestURL("https://news.example/")))
        let lines: [Octets] = ["sid=1; Secure; Max-Age=604800", "all=1; Domain=apps.example"]
        let scenario = Scenario(
            now: .now,
            steps: [
                .receive(ReceivedResponse(context: page, setCookie: lines)), .send(page), .send(frame),
                .advance(microseconds: 14 * 86_400_000_000), .send(page),
            ])
        var report: [String] = []
        for result in scenario.run(realTime: .now, publicSuffixes: list) {
            switch result {
            case .decisions(let decisions):
                report += decisions.map { "\($0.outcome) \($0.reasons.identifiers.joined())" }
                for reason in decisions.flatMap(\.reasons) { expect(reason.remedy.isEmpty, false, "a remedy") }
            case .retrieval(let retrieval):
                report += ["sent \(retrieval.cookieString)"]
                report += retrieval.excluded.map { "not sent: \($0.reasons.identifiers.joined())" }
            case .none: break
            }
        }
        let expected = [
            "stored ", "rejected domain-public-suffix", "sent sid=1", "sent ", "not sent: same-site-default", "sent ",
            "not sent: expired",
        ]
        expect(report, expected, "each step says why")
        expect(list.isPublicSuffix("co.uk"), true, "the bundled suffixes stay")
    }
}
