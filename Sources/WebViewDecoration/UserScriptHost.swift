/// Where a web view takes the scripts from that run at document start: `WKUserContentController`, or what stands in for
/// it.
@MainActor
public protocol UserScriptHost: AnyObject {
    /// Installs scripts in the place of those that were installed through here before. Others stay.
    func replaceUserScripts(_ scripts: [DocumentStartScript])
}

/// A script that runs at document start, in every frame.
public struct DocumentStartScript: Sendable, Hashable {
    /// Which globals it sees.
    public enum World: Sendable {
        /// The page's own.
        case page
        /// Its own: a page can neither see nor change them. `document.cookie` is the page's.
        case isolated
    }

    /// The source.
    public let source: String
    /// The world.
    public let world: World

    /// A script.
    public init(source: String, world: World) {
        self.source = source
        self.world = world
    }
}
