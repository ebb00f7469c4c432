// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "shop-browser",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [.library(name: "ShopBrowser", targets: ["ShopBrowser"])],
    dependencies: [
        .package(name: "crumb", path: "../crumb", traits: ["Store"])
    ],
    targets: [
        .target(name: "ShopBrowser", dependencies: [.product(name: "RequestDecoration", package: "crumb")])
    ]
)
