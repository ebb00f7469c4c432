// swift-tools-version: 6.2
import PackageDescription

// A package of its own: only the benchmark of the service wants it, and it builds a web framework.
let package = Package(
    name: "bare-service",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0")
    ],
    targets: [
        .executableTarget(
            name: "bare-service", dependencies: [.product(name: "Hummingbird", package: "hummingbird")],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)])
    ]
)
