// swift-tools-version: 6.2
import PackageDescription

// A package of its own: nothing that is shipped or tested knows of it. `Scripts/fuzz` builds it with the sanitizers and
// runs the targets; without them there is no `main` to link.
let upcomingFeatures = [
    "ExistentialAny", "ImmutableWeakCaptures", "InferIsolatedConformances", "InternalImportsByDefault",
    "MemberImportVisibility", "NonisolatedNonsendingByDefault",
]

let rules: Target.Dependency = .product(name: "CookieModel", package: "crumb")
let captures: Target.Dependency = .product(name: "Captures", package: "crumb")
let caching: Target.Dependency = .product(name: "HTTPCaching", package: "crumb")
// A product in the lane of `Scripts/fuzz` alone.
let packages: Target.Dependency = .product(name: "OfflinePackages", package: "crumb")

let package = Package(
    name: "crumb-fuzzing",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "crumb", path: "../..", traits: ["Store"])],
    targets: [
        .target(name: "FuzzSupport"),
        .executableTarget(name: "fuzz-parser", dependencies: ["FuzzSupport", rules]),
        .executableTarget(name: "fuzz-date", dependencies: ["FuzzSupport", rules]),
        .executableTarget(name: "fuzz-host", dependencies: ["FuzzSupport", rules]),
        .executableTarget(name: "fuzz-list", dependencies: ["FuzzSupport", rules]),
        .executableTarget(name: "fuzz-scenario", dependencies: ["FuzzSupport", rules]),
        .executableTarget(name: "fuzz-capture", dependencies: ["FuzzSupport", rules, captures]),
        .executableTarget(name: "fuzz-message", dependencies: ["FuzzSupport", captures, rules]),
        .executableTarget(name: "fuzz-store", dependencies: ["FuzzSupport", rules]),
        .executableTarget(name: "fuzz-caching", dependencies: ["FuzzSupport", caching, rules]),
        .executableTarget(name: "fuzz-rules", dependencies: ["FuzzSupport", caching, rules]),
        .executableTarget(name: "fuzz-archive", dependencies: ["FuzzSupport", packages, rules]),
        .executableTarget(name: "fuzz-manifest", dependencies: ["FuzzSupport", packages, rules]),
    ]
)

for target in package.targets {
    target.swiftSettings =
        [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)] + upcomingFeatures.map { .enableUpcomingFeature($0) }
}
