// swift-tools-version: 6.2
import PackageDescription

/// A program that uses products of Crumb and of other packages.
func program(_ name: String, _ products: [String], _ others: [Target.Dependency] = []) -> Target {
    .executableTarget(
        name: name,
        dependencies: ["AppSupport"] + products.map { .product(name: $0, package: "crumb") } + others,
        swiftSettings: settings)
}

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("InternalImportsByDefault"), .enableUpcomingFeature("MemberImportVisibility"),
]
let client: Target.Dependency = .product(name: "AsyncHTTPClient", package: "async-http-client")
let backend: [Target.Dependency] = [
    client, .product(name: "Hummingbird", package: "hummingbird"),
    .product(name: "HummingbirdTesting", package: "hummingbird"), .product(name: "NIOHTTP1", package: "swift-nio"),
]

let package = Package(
    name: "apps",
    platforms: [.macOS(.v15), .iOS(.v18)],
    dependencies: [
        // An app with URLSession needs the trait Store alone, and one that only uses the rules needs none.
        .package(name: "crumb", path: "../../..", traits: ["AsyncHTTPClient", "Gateway"]),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    ],
    targets: [
        .target(name: "AppSupport", swiftSettings: settings),
        program("URLSessionLogin", ["URLSessionDecoration"]),
        program("URLSessionDownload", ["URLSessionDecoration"]),
        program("AsyncHTTPClientLogin", ["AsyncHTTPClientDecoration"]),
        program("WebView", ["RequestDecoration"]),
        program("TokenLogins", ["OAuth2Login", "URLSessionDecoration"]),
        program("Backend", ["AsyncHTTPClientDecoration"], backend),
        program("ServiceBackend", ["AsyncHTTPClientDecoration", "SessionClient"], backend),
        program(
            "GatewayUsers", ["SessionGateway", "SessionStore", "OAuth2", "CookieModel"],
            [
                client, .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ]),
        program("Rules", ["CookieModel"]),
        program("Explanations", ["CookieModel"]),
        program("OwnStore", ["CookieModel"]),
        program(
            "AppTests", ["CookieModel", "OAuth2Login", "SessionStore"],
            [.product(name: "HTTPTypes", package: "swift-http-types")]),
    ]
)
