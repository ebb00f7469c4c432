// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "kept-login",
    platforms: [.macOS(.v15), .iOS(.v18)],
    dependencies: [
        .package(name: "crumb", path: "../crumb", traits: ["Store"])
    ],
    targets: [
        .executableTarget(
            name: "kept-login", dependencies: [.product(name: "URLSessionDecoration", package: "crumb")])
    ]
)
