package import RequestDecoration

/// A capture script in JSON.
package struct CaptureScriptReport: Codable {
    package let handler: String
    package let script: String

    /// The script that tells the handler of that name.
    package init(_ script: CaptureScript, handler: MessageHandlerName) {
        self.handler = handler.description
        self.script = script.source
    }
}
