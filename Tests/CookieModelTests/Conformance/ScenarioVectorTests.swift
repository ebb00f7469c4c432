import CookieScenarios
import Foundation
import Testing

@testable import CookieModel

@Suite("The http-state suite", .enabled(if: Conformance.exists, Comment(rawValue: Conformance.absent)))
struct ScenarioVectorTests {
    struct Vector: Decodable {
        let id: String
        let expected: String
    }

    struct Answer: Decodable {
        struct Step: Decodable {
            let cookieBase64: String?
        }
        let id: String
        let results: [Step?]
    }

    @Test("Every parser and matching case gives the header that the draft gives")
    func scenarios() throws {
        let lines = try Conformance.lines("http-state-scenarios.jsonl")
        #expect(lines.count == 222)
        for line in lines {
            let vector = try JSONDecoder().decode(Vector.self, from: Data(line.utf8))
            let (answer, isScenario) = ScenarioLine.run(Array(line.utf8), realTime: Session.start)
            #expect(isScenario, "case \(vector.id)")
            let decoded = try JSONDecoder().decode(Answer.self, from: Data(answer))
            #expect(decoded.id == vector.id)
            let header = try #require(decoded.results.last, "case \(vector.id)")
            #expect(
                header?.cookieBase64 == vector.expected, "case \(vector.id): \(String(decoding: answer, as: UTF8.self))"
            )
        }
    }

    struct DateVector: Decodable {
        let test: String
        let expected: String?
    }

    @Test(
        "Every date has the meaning given by the suite",
        arguments: [("http-state-dates-1.json", 15), ("http-state-dates-2.json", 55)])
    func dates(file: String, count: Int) throws {
        let json = try Conformance.lines(file).joined(separator: "\n")
        let vectors = try JSONDecoder().decode([DateVector].self, from: Data(json.utf8))
        #expect(vectors.count == count)
        for vector in vectors {
            #expect(CookieDate.parse(vector.test)?.httpDate == vector.expected, "\(vector.test)")
        }
    }
}
