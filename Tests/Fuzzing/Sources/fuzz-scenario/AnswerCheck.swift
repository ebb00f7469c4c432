import Foundation
import FuzzSupport

/// The answer to a scenario, read as someone would who has only the documentation.
enum AnswerCheck {
    private static let outcomes: Set<String> = ["stored", "replaced", "deleted", "rejected"]

    static func check(_ answer: [UInt8]) {
        let object = (try? JSONSerialization.jsonObject(with: Data(answer))) as? [String: Any]
        Invariant.holds(object?["results"] is [Any], "an answer has results")
        for result in object?["results"] as? [Any] ?? [] {
            guard let result = result as? [String: Any] else {
                Invariant.holds(result is NSNull, "a step has a result or null")
                continue
            }
            if let decisions = result["decisions"] as? [[String: Any]] {
                for decision in decisions { checkDecision(decision) }
            } else {
                checkRetrieval(result)
            }
        }
    }

    private static func checkDecision(_ decision: [String: Any]) {
        let outcome = decision["outcome"] as? String
        let reasons = decision["reasons"] as? [String]
        Invariant.holds(outcome.map(outcomes.contains) == true, "an outcome is one of four")
        Invariant.holds((outcome == "rejected") == (reasons?.isEmpty == false), "a refusal has reasons")
        Invariant.holds((outcome == "rejected") == (decision["cookie"] == nil), "what is no refusal has a cookie")
    }

    private static func checkRetrieval(_ result: [String: Any]) {
        let octets = (result["cookieBase64"] as? String).flatMap { Data(base64Encoded: $0) }
        let included = result["included"] as? [[String: Any]]
        let excluded = result["excluded"] as? [[String: Any]]
        Invariant.holds(octets != nil && included != nil && excluded != nil, "a retrieval has all its fields")
        guard let octets, let included, let excluded else { return }
        let text = String(validating: octets, as: UTF8.self)
        Invariant.holds(
            (result["cookie"] as? String).map { Array($0.utf8) } == text.map { Array($0.utf8) }, "one header")
        Invariant.holds(octets.isEmpty == included.isEmpty, "a header is empty where no cookie goes")
        Invariant.holds(
            excluded.allSatisfy { ($0["reasons"] as? [String])?.isEmpty == false }, "a cookie that stays has reasons")
    }
}
