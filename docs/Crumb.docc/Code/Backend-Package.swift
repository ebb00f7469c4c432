// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "shop-backend",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "crumb", path: "../crumb", traits: ["AsyncHTTPClient"])
    ],
    targets: [
        .executableTarget(
            name: "shop-backend",
            dependencies: [.product(name: "AsyncHTTPClientDecoration", package: "crumb")])
    ]
)
