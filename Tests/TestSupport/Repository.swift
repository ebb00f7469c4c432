public import Foundation

/// The folder that the tests' sources come from.
public enum Repository {
    /// The root, which has `Package.swift`.
    public static let root = URL(filePath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    /// The files from elsewhere that only some have, beside the root.
    public static let shared = root.deletingLastPathComponent().appending(path: "shared")
}
