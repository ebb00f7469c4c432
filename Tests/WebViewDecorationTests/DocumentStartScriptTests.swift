import Testing
import WebViewDecoration

@Suite("Scripts for web views")
struct DocumentStartScriptTests {
    @Test("A script does not print its source, which contains values")
    func hidden() {
        let script = DocumentStartScript(source: "document.cookie = 'a=opensesame'", world: .isolated)
        var printed = "\(script) \([script])"
        dump(script, to: &printed)
        #expect(!printed.contains("opensesame") && printed.contains("isolated"))
    }
}
