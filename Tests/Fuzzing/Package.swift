// swift-tools-version: 6.2
import PackageDescription

// A package of its own: nothing that is shipped or tested knows of it. `Scripts/fuzz` builds it with the sanitizers and
// runs the targets; without them there is no `main` to link.
let upcomingFeatures = [
    "ExistentialAny", "ImmutableWeakCaptures", "InferIsolatedConformances", "InternalImportsByDefault",
    "MemberImportVisibility", "NonisolatedNonsendingByDefault",
]

let model: Target.Dependency = .product(name: "CookieModel", package: "crumb")
let scenarios: Target.Dependency = .product(name: "CookieScenarios", package: "crumb")
let captures: Target.Dependency = .product(name: "Captures", package: "crumb")
let caching: Target.Dependency = .product(name: "HTTPCaching", package: "crumb")
let messages: Target.Dependency = .product(name: "HTTPMessages", package: "crumb")
let list: Target.Dependency = .product(name: "PublicSuffix", package: "crumb")
let primitives: Target.Dependency = .product(name: "WebPrimitives", package: "crumb")

let package = Package(
    name: "crumb-fuzzing",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "crumb", path: "../..")],
    targets: [
        .target(name: "FuzzSupport"),
        .executableTarget(name: "fuzz-parser", dependencies: ["FuzzSupport", model]),
        .executableTarget(name: "fuzz-date", dependencies: ["FuzzSupport", model]),
        .executableTarget(name: "fuzz-host", dependencies: ["FuzzSupport", model, list]),
        .executableTarget(name: "fuzz-list", dependencies: ["FuzzSupport", list, primitives]),
        .executableTarget(name: "fuzz-scenario", dependencies: ["FuzzSupport", model, scenarios]),
        .executableTarget(name: "fuzz-capture", dependencies: ["FuzzSupport", model, captures]),
        .executableTarget(name: "fuzz-message", dependencies: ["FuzzSupport", messages, primitives]),
        .executableTarget(name: "fuzz-store", dependencies: ["FuzzSupport", model, list]),
        .executableTarget(name: "fuzz-caching", dependencies: ["FuzzSupport", caching, primitives]),
        .executableTarget(name: "fuzz-rules", dependencies: ["FuzzSupport", caching, primitives]),
    ]
)

for target in package.targets {
    target.swiftSettings =
        [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)] + upcomingFeatures.map { .enableUpcomingFeature($0) }
}
