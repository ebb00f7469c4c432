// swift-tools-version: 6.2
import PackageDescription

let upcomingFeatures = [
    "ExistentialAny", "ImmutableWeakCaptures", "InferIsolatedConformances", "InternalImportsByDefault",
    "MemberImportVisibility", "NonisolatedNonsendingByDefault",
]

let package = Package(
    name: "crumb-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "crumb", path: "..", traits: ["Store"]),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    ],
    targets: [
        .target(name: "DriverSupport"),
        .executableTarget(
            name: "crumb-bench",
            dependencies: [
                "DriverSupport",
                .product(name: "CookieModel", package: "crumb"),
                .product(name: "SessionStore", package: "crumb"),
                .product(name: "RequestDecoration", package: "crumb"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]),
        .executableTarget(
            name: "capture-bench",
            dependencies: [
                "DriverSupport",
                .product(name: "Captures", package: "crumb"),
            ]),
        .executableTarget(
            name: "stall-bench",
            dependencies: [
                .product(name: "CookieModel", package: "crumb"),
                .product(name: "SessionStore", package: "crumb"),
            ]),
        .executableTarget(name: "foundation-bench", dependencies: ["DriverSupport"]),
        .executableTarget(name: "bench-compare"),
    ]
)

for target in package.targets {
    target.swiftSettings =
        [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)] + upcomingFeatures.map { .enableUpcomingFeature($0) }
}
