/// The folders of a user for one kind of file: those of the XDG Base Directory Specification, and their counterparts on
/// macOS.
package enum UserFolder: Sendable {
    case data
    case configuration
    case caches

    /// The path of the folder.
    ///
    /// - Parameter environment: Returns the value of a variable of the environment.
    /// - Returns: `nil` if the environment does not tell the folder.
    package func path(_ environment: (String) -> String?) -> String? {
        // The XDG specification has relative paths ignored.
        if let folder = environment(variable), folder.hasPrefix("/") { return folder }
        guard let home = environment("HOME"), home.hasPrefix("/") else { return nil }
        return "\(home)/\(fallback)"
    }

    private var variable: String {
        switch self {
        case .data: "XDG_DATA_HOME"
        case .configuration: "XDG_CONFIG_HOME"
        case .caches: "XDG_CACHE_HOME"
        }
    }

    /// The folder's name in the home folder without the variable.
    private var fallback: String {
        #if os(macOS)
            switch self {
            case .data, .configuration: "Library/Application Support"
            case .caches: "Library/Caches"
            }
        #else
            switch self {
            case .data: ".local/share"
            case .configuration: ".config"
            case .caches: ".cache"
            }
        #endif
    }
}
