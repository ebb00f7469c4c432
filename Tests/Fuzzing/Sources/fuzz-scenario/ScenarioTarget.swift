import CookieModel
import FuzzSupport

@testable import CookieScenarios

/// Any bytes as a line of `crumb simulate`.
enum ScenarioTarget {
    /// 2026-11-21T00:00:00Z.
    private static let realTime = Timestamp(seconds: 1_795_219_200)

    static func check(_ input: [UInt8]) {
        let (answer, isScenario) = ScenarioLine.run(input, realTime: realTime)
        Invariant.holds(!answer.contains { $0 < 0x20 }, "an answer is one line")
        Invariant.holds(String(validating: answer, as: UTF8.self) != nil, "an answer is UTF-8")
        Invariant.holds(
            isScenario ? answer.starts(with: Array(#"{"id":"#.utf8)) : answer.starts(with: Array(#"{"error":"#.utf8)),
            "an answer is an object of one of two kinds")
        // What is no scenario is most of what comes: only of the others it is worth the time to read the answer.
        guard isScenario else { return }
        AnswerCheck.check(answer)
        let again = ScenarioLine.run(input, realTime: realTime)
        Invariant.holds(again.answer == answer && again.isScenario, "a line has one answer")
    }
}

/// libFuzzer calls this with every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    ScenarioTarget.check(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}
