/// JavaScript that tells what a page's scripts do to cookies: what they set through `document.cookie`, what the
/// engine's cookie store says has changed, and which answers `fetch` and `XMLHttpRequest` got.
///
/// It runs at document start in the page's own world, before the page's scripts, in every frame, and does nothing where
/// nobody listens or where it has run before. What it says is read by ``CaptureMessage``.
public struct CaptureScript: Sendable {
    /// The script.
    public let source: String

    /// The script whose messages go to a handler.
    public init(handler: MessageHandlerName) {
        source = ScriptTemplate(PackageResources.CaptureScript_js).source([
            "parameters": Array("var handler = \(JavaScript.stringLiteral(handler.description));".utf8)
        ])
    }
}
