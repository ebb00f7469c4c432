import Foundation
import Testing
import WebPrimitives

@Suite("Sentences of errors")
struct ErrorSentenceTests {
    private struct Failure: DescribedError, CommandDescribed {
        let sentence: ErrorSentence

        var description: String { sentence.text }
        var commandDescription: String { sentence.commandText }
    }

    @Test("A sentence names a command only to its user")
    func twoReaders() {
        let name = "work"
        let sentence: ErrorSentence =
            "log in again\(command: " with 'crumb token login \(name)'"), "
            + "or \(app: "call import", command: "run 'crumb token import'") for \(name)"
        #expect(sentence.text == "log in again, or call import for work")
        #expect(
            sentence.commandText
                == "log in again with 'crumb token login work', or run 'crumb token import' for work")
        let failure: any Error = Failure(sentence: sentence)
        #expect(failure.localizedDescription == sentence.text)
        #expect(failure.commandDescription == sentence.commandText)
    }

    @Test("An error without a sentence for the command has its description")
    func others() throws {
        let error: any Error = RequestURLError(code: .hostInvalid)
        #expect(error.commandDescription == "\(error)")
        #expect(error.localizedDescription == "the URL's host is missing or not a valid host name or IP address")
    }
}
