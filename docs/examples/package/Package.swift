// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "session-example",
    platforms: [.macOS(.v15), .iOS(.v18)],
    dependencies: [
        .package(name: "crumb", path: "../../..", traits: ["Store"])
    ],
    targets: [
        .executableTarget(
            name: "SessionExample",
            dependencies: [
                .product(name: "CookieModel", package: "crumb"),
                .product(name: "SessionStore", package: "crumb"),
            ])
    ]
)
