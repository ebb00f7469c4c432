import CookieModel
import Foundation
import RequestDecoration
import Testing

@Suite("The table of callbacks in docs/web-views.md")
struct NavigationTableTests {
    @Test("The table lists each callback once, with its event and its possible steps")
    func table() throws {
        var rows: [String: (event: String, steps: String)] = [:]
        for line in try Documentation.text("docs/web-views.md").split(separator: "\n")
        where line.hasPrefix("| `webView") {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            #expect(cells.count == 3, "\(line)")
            #expect(rows[cells[0]] == nil, "\(line)")
            rows[cells[0]] = (cells[1], cells[2])
        }
        for callback in WebViewCallback.allCases {
            let row = try #require(rows["`\(callback.rawValue)`"], "\(callback.rawValue)")
            #expect(row.event == (callback.event?.rawValue ?? "—"), "\(callback.rawValue)")
            let steps = NavigationDecision.Kind.allCases.filter(callback.steps.contains).map(\.rawValue)
            #expect(row.steps == (steps.isEmpty ? "—" : steps.joined(separator: ", ")), "\(callback.rawValue)")
        }
        #expect(rows.count == WebViewCallback.allCases.count)
    }

    @Test("The table lists every step of a decision for its callback, and every listed step occurs")
    func reached() throws {
        var policy = NavigationPolicy()
        policy.appSchemes = ["shopapp"]
        policy.signInPages = [try RequestURL("https://www.example.com/login")]
        var reached: [NavigationEvent.Kind: Set<NavigationDecision.Kind>] = [:]
        for row in NavigationPolicyTests.rows {
            var state = NavigationState()
            for _ in 0..<5 {
                let decision = policy.decide(row.event, state: &state, now: Page.now)
                reached[row.event.kind, default: []].formUnion(decision.steps.map(\.kind))
            }
        }
        for callback in WebViewCallback.allCases {
            guard let event = callback.event else { continue }
            #expect(reached[event] == callback.steps, "\(callback)")
        }
        #expect(Set(WebViewCallback.allCases.compactMap(\.event)) == Set(NavigationEvent.Kind.allCases))
    }

    @Test("Every reason of a navigation decision occurs")
    func reasons() throws {
        var reasons = Set(NavigationPolicyTests.rows.map(\.reason))
        // These two need an event before them; other tests have them.
        reasons.formUnion([.fallbackTried, .reloadLimit])
        #expect(reasons == Set(NavigationDecision.Reason.allCases))
    }
}
