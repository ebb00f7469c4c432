// swift-tools-version: 6.2
import PackageDescription

let upcomingFeatures = [
    "ExistentialAny", "ImmutableWeakCaptures", "InferIsolatedConformances", "InternalImportsByDefault",
    "MemberImportVisibility", "NonisolatedNonsendingByDefault",
]

// Every trait that needs packages. Without one, SessionClient sends the documents of the service, and needs no package.
let store: Set = ["Store", "AsyncHTTPClient", "OpenIDConnect", "Gateway", "Programs"]

let package = Package(
    name: "crumb",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .executable(name: "crumb", targets: ["crumb"]),
        .executable(name: "crumb-network", targets: ["crumb-network"]),
        // The rules, without a dependency.
        .library(name: "CookieModel", targets: ["CookieModel", "CookieScenarios", "PublicSuffix", "WebPrimitives"]),
        .library(name: "HTTPCaching", targets: ["HTTPCaching"]),
        // Sessions that are kept (trait Store).
        .library(name: "Captures", targets: ["Captures", "BrowserCookies", "HTTPMessages"]),
        .library(name: "OAuth2", targets: ["OAuth2"]),
        .library(name: "SessionStore", targets: ["SessionStore", "ResponseStore"]),
        .library(name: "OAuth2Login", targets: ["OAuth2Login"]),
        .library(name: "RequestDecoration", targets: ["RequestDecoration", "WebViewDecoration"]),
        .library(name: "URLSessionDecoration", targets: ["URLSessionDecoration"]),
        // Clients and servers of the network (traits AsyncHTTPClient, OpenIDConnect, Gateway, Programs).
        .library(
            name: "AsyncHTTPClientDecoration", targets: ["AsyncHTTPClientDecoration", "AsyncHTTPClientTransport"]),
        .library(name: "OpenIDConnect", targets: ["OpenIDConnect"]),
        .library(name: "SessionClient", targets: ["SessionClient", "SessionWire"]),
        .library(name: "SessionGateway", targets: ["SessionGateway"]),
    ],
    // No trait enables another one: Swift 6.3 passes several in any order, and everything is compiled again for each order.
    traits: [
        .default(enabledTraits: ["Programs"]),
        .trait(name: "Store", description: "Keeps sessions: SQLite, encryption, OAuth2, URLSession and web views."),
        .trait(name: "AsyncHTTPClient", description: "Store, and the requests of AsyncHTTPClient with a jar."),
        .trait(name: "OpenIDConnect", description: "Store, and checks of ID tokens."),
        .trait(name: "Gateway", description: "Store, and the proxy for every request of a page."),
        .trait(name: "Programs", description: "The programs crumb and crumb-network: everything."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.14.0"),
        // Without their default traits, swift-configuration and hummingbird import only FoundationEssentials, so that the
        // programs link no ICU.
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: []),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.9.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.34.1"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.2"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: []),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.0"),
    ],
    targets: [
        .target(name: "Platform"),
        .target(name: "WebPrimitives"),
        .target(name: "WebPages", resources: [.embedInCode("page.css")]),
        .target(name: "HTTPMessages", dependencies: ["WebPrimitives"]),
        .target(name: "HTTPCaching", dependencies: ["WebPrimitives"]),
        .target(
            name: "OfflinePackages",
            dependencies: ["WebPrimitives", "HTTPMessages", .product(name: "Crypto", package: "swift-crypto")]),
        .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite3"])]),
        .target(name: "SQLite", dependencies: ["CSQLite"]),
        .target(name: "PublicSuffix", dependencies: ["WebPrimitives"]),
        .executableTarget(name: "public-suffix-compiler", dependencies: ["PublicSuffix"]),
        .target(name: "CookieModel", dependencies: ["WebPrimitives", "PublicSuffix"]),
        .target(name: "CookieScenarios", dependencies: ["WebPrimitives", "PublicSuffix", "CookieModel"]),
        .target(name: "Captures", dependencies: ["WebPrimitives", "HTTPMessages", "CookieModel"]),
        .target(
            name: "BrowserCookies",
            dependencies: [
                "Platform", "CookieModel", "Captures", "SQLite",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ]),
        .target(
            name: "OAuth2",
            dependencies: [
                "WebPrimitives",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ]),
        .target(
            name: "OpenIDConnect",
            dependencies: ["OAuth2", .product(name: "JWTKit", package: "jwt-kit")]),
        .target(name: "StoreEngine", dependencies: ["Platform", "WebPrimitives"]),
        .target(
            name: "SQLiteEngine", dependencies: ["CSQLite", "SQLite", "Platform", "WebPrimitives", "StoreEngine"],
            resources: [.embedInCode("../../Migrations/V101_schema.sql")]),
        .target(
            name: "PostgreSQLEngine", dependencies: ["Platform", "WebPrimitives", "StoreEngine"],
            resources: [.embedInCode("../../Migrations/postgresql/P101_schema.sql")]),
        .target(
            name: "SessionStore",
            dependencies: [
                "Platform", "WebPrimitives", "CookieModel", "OAuth2", "StoreEngine", "SQLiteEngine",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ]),
        .target(
            name: "OAuth2Login",
            dependencies: ["Platform", "WebPrimitives", "HTTPMessages", "WebPages", "OAuth2", "SessionStore"]),
        .target(
            name: "ResponseStore",
            dependencies: [
                "Platform", "WebPrimitives", "PublicSuffix", "CookieModel", "HTTPCaching", "StoreEngine",
                "SQLiteEngine",
                "SessionStore", .product(name: "Crypto", package: "swift-crypto"),
            ]),
        .target(
            name: "PackageStore",
            dependencies: [
                "Platform", "WebPrimitives", "OfflinePackages", "StoreEngine", "SessionStore",
                .product(name: "Crypto", package: "swift-crypto"),
            ]),
        .target(
            name: "RequestExchange",
            dependencies: ["CookieModel", .product(name: "HTTPTypes", package: "swift-http-types")]),
        .target(
            name: "RequestDecoration",
            dependencies: [
                "Platform", "CookieModel", "HTTPCaching", "OAuth2", "SessionStore", "ResponseStore", "RequestExchange",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            resources: [
                .embedInCode("Injection/InjectionScript.js"), .embedInCode("Capture/CaptureScript.js"),
                .embedInCode("Resources/ResourceScript.js"),
            ]),
        .target(
            name: "WebViewDecoration",
            dependencies: [
                "CookieModel", "OAuth2", "SessionStore", "RequestDecoration",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]),
        .target(
            name: "URLSessionDecoration",
            dependencies: [
                "Platform", "CookieModel", "HTTPCaching", "OAuth2", "SessionStore", "ResponseStore",
                "RequestDecoration",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]),
        .target(
            name: "AsyncHTTPClientDecoration",
            dependencies: [
                "Platform", "CookieModel", "HTTPCaching", "OAuth2", "SessionStore", "ResponseStore",
                "RequestDecoration",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPCompression", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ]),
        .target(name: "GatewayModel", dependencies: ["PublicSuffix", "CookieModel", "HTTPCaching"]),
        .target(
            name: "SessionGateway",
            dependencies: [
                "Platform", "WebPrimitives", "WebPages", "HTTPMessages", "PublicSuffix", "CookieModel", "HTTPCaching",
                "GatewayModel", "OAuth2", "SessionStore", "ResponseStore", "OfflinePackages", "PackageStore",
                "RequestDecoration",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHPACK", package: "swift-nio-http2"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOTLS", package: "swift-nio"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
            ]),
        .target(name: "SessionWire", dependencies: ["WebPrimitives"]),
        .target(
            name: "SessionClient",
            dependencies: [
                "WebPrimitives", "SessionWire", .target(name: "CookieModel", condition: .when(traits: store)),
                .target(name: "RequestExchange", condition: .when(traits: store)),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]),
        .target(
            name: "AsyncHTTPClientTransport",
            dependencies: [
                "SessionClient",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ]),
        .target(
            name: "SessionOperations",
            dependencies: [
                "WebPrimitives", "HTTPMessages", "HTTPCaching", "PublicSuffix", "CookieModel", "GatewayModel",
                "Captures", "OAuth2", "SessionStore", "OAuth2Login", "ResponseStore", "RequestDecoration",
                "SessionWire",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            resources: [.embedInCode("Providers/Providers.json")]),
        .target(
            name: "SessionService",
            dependencies: [
                "Platform", "WebPrimitives", "WebPages", "PublicSuffix", "CookieModel", "CookieScenarios",
                "GatewayModel", "Captures", "OAuth2", "OpenIDConnect", "SessionStore", "OAuth2Login",
                "RequestDecoration", "SessionOperations", "SessionWire",
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            resources: [
                .embedInCode("API/OpenAPI/openapi.json"),
                .embedInCode("Inspector/Pages/inspector.css"), .embedInCode("Inspector/Pages/inspector.js"),
            ]),
        .target(
            name: "CrumbCommands",
            dependencies: [
                "Platform", "HTTPMessages", "PublicSuffix", "CookieModel", "CookieScenarios", "HTTPCaching",
                "GatewayModel",
                "Captures", "BrowserCookies", "OAuth2", "SessionStore", "OAuth2Login", "OfflinePackages",
                "PackageStore", "RequestDecoration", "SessionOperations", "SessionClient",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]),
        .executableTarget(
            name: "crumb", dependencies: ["CrumbCommands"],
            // Half of the time of a short command is the dynamic linker's. This program loads nothing at run time.
            linkerSettings: [
                .unsafeFlags(["-static-executable"], .when(platforms: [.linux], configuration: .release))
            ]),
        .systemLibrary(
            name: "CQRencode", pkgConfig: "libqrencode",
            providers: [.apt(["libqrencode-dev"]), .brew(["qrencode"])]),
        .executableTarget(
            name: "crumb-network",
            dependencies: [
                "CQRencode", "Platform", "WebPrimitives", "CrumbCommands", "CookieModel", "OAuth2", "OpenIDConnect",
                "PostgreSQLEngine", "SessionStore", "ResponseStore", "OfflinePackages", "PackageStore",
                "SessionGateway", "SessionOperations", "SessionService", "SessionClient", "AsyncHTTPClientTransport",
                "AsyncHTTPClientDecoration",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ]),
        .target(name: "TestSupport", dependencies: ["Platform"], path: "Tests/TestSupport"),
        .target(
            name: "DecorationTestSupport",
            dependencies: [
                "CookieModel", "HTTPCaching", "OAuth2", "ResponseStore", "SessionStore", "TestSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            path: "Tests/DecorationTestSupport"),
        .testTarget(
            name: "WebPrimitivesTests", dependencies: ["WebPrimitives", "TestSupport"], exclude: ["Web/Vectors"]),
        .testTarget(name: "HTTPMessagesTests", dependencies: ["HTTPMessages", "WebPrimitives"]),
        .testTarget(name: "HTTPCachingTests", dependencies: ["HTTPCaching", "WebPrimitives", "TestSupport"]),
        .testTarget(
            name: "OfflinePackagesTests",
            dependencies: [
                "OfflinePackages", "WebPrimitives", "TestSupport", .product(name: "Crypto", package: "swift-crypto"),
            ]),
        .testTarget(
            name: "PublicSuffixTests",
            dependencies: ["WebPrimitives", "PublicSuffix", "public-suffix-compiler", "TestSupport"],
            exclude: ["Data"]),
        .testTarget(
            name: "CookieModelTests",
            dependencies: ["CookieModel", "CookieScenarios", "PublicSuffix", "TestSupport"],
            exclude: ["WebPlatform/Cases"]),
        .testTarget(
            name: "CapturesTests", dependencies: ["Captures", "CookieModel", "TestSupport"],
            exclude: ["Recordings/Samples"]),
        .testTarget(name: "SQLiteTests", dependencies: ["CSQLite", "SQLite"]),
        .testTarget(
            name: "BrowserCookiesTests",
            dependencies: [
                "BrowserCookies", "Captures", "CookieModel", "SQLite",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ]),
        .testTarget(
            name: "OAuth2Tests",
            dependencies: [
                "OAuth2", "WebPrimitives", "TestSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ]),
        .testTarget(
            name: "OpenIDConnectTests",
            dependencies: [
                "OpenIDConnect", "OAuth2", .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "JWTKit", package: "jwt-kit"),
            ]),
        .testTarget(
            name: "SessionStoreTests",
            dependencies: [
                "Platform", "SessionStore", "SQLiteEngine", "PostgreSQLEngine", "StoreEngine", "CookieModel", "OAuth2",
                "CSQLite", "SQLite", "TestSupport",
            ]),
        .testTarget(
            name: "OAuth2LoginTests",
            dependencies: [
                "OAuth2Login", "OAuth2", "SessionStore", "Platform",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Crypto", package: "swift-crypto"),
            ]),
        .executableTarget(
            name: "cache-worker",
            dependencies: ["Platform", "WebPrimitives", "HTTPCaching", "SessionStore", "ResponseStore", "TestSupport"],
            path: "Tests/CacheWorker"),
        .testTarget(
            name: "ResponseStoreTests",
            dependencies: [
                "cache-worker", "CookieModel", "HTTPCaching", "Platform", "PublicSuffix", "ResponseStore",
                "SQLiteEngine",
                "SessionStore", "StoreEngine", "TestSupport", "WebPrimitives",
            ]),
        .executableTarget(
            name: "package-worker",
            dependencies: [
                "Platform", "WebPrimitives", "OfflinePackages", "SessionStore", "PackageStore", "TestSupport",
            ],
            path: "Tests/PackageWorker"),
        .testTarget(
            name: "PackageStoreTests",
            dependencies: [
                "package-worker", "OfflinePackages", "PackageStore", "Platform", "SessionStore", "TestSupport",
                "WebPrimitives",
                .product(name: "Crypto", package: "swift-crypto"),
            ]),
        .testTarget(
            name: "RequestDecorationTests",
            dependencies: [
                "RequestDecoration", "CookieModel", "OAuth2", "SessionStore", "TestSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            exclude: ["Support/Browser.js"]),
        .testTarget(
            name: "WebViewDecorationTests",
            dependencies: [
                "WebViewDecoration", "RequestDecoration", "CookieModel", "OAuth2", "SessionStore", "TestSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            exclude: ["WebKitInterface"]),
        .testTarget(
            name: "URLSessionDecorationTests",
            dependencies: [
                "URLSessionDecoration", "RequestDecoration", "CookieModel", "DecorationTestSupport", "HTTPCaching",
                "OAuth2", "OAuth2Login", "ResponseStore", "SessionStore", "TestSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            exclude: ["WebKitInterface"]),
        .testTarget(
            name: "AsyncHTTPClientDecorationTests",
            dependencies: [
                "AsyncHTTPClientDecoration", "RequestDecoration", "CookieModel", "DecorationTestSupport", "HTTPCaching",
                "OAuth2", "ResponseStore", "SessionStore", "TestSupport",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ]),
        .testTarget(
            name: "SessionGatewayTests",
            dependencies: [
                "Platform", "SessionGateway", "CookieModel", "HTTPCaching", "GatewayModel", "HTTPMessages", "OAuth2",
                "OfflinePackages", "PackageStore", "RequestDecoration", "SessionStore", "ResponseStore", "TestSupport",
                "WebPages", "WebPrimitives",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHPACK", package: "swift-nio-http2"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOTLS", package: "swift-nio"),
            ]),
        .testTarget(
            name: "SessionClientTests",
            dependencies: ["CookieModel", "RequestExchange", "SessionClient", "SessionWire", "WebPrimitives"]),
        .testTarget(
            name: "SessionServiceTests",
            dependencies: [
                "Platform", "SessionService", "CookieModel", "GatewayModel", "HTTPCaching", "OAuth2", "OAuth2Login",
                "OfflinePackages", "PackageStore", "PostgreSQLEngine", "RequestDecoration", "ResponseStore",
                "SessionClient", "SessionOperations", "SessionStore", "SessionWire", "TestSupport", "WebPages",
                "WebPrimitives",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]),
        .executableTarget(
            name: "jar-worker",
            dependencies: ["Platform", "CookieModel", "SQLiteEngine", "SessionStore", "TestSupport"],
            path: "Tests/JarWorker"),
        .executableTarget(
            name: "service-client",
            dependencies: [
                "AsyncHTTPClientTransport", "SessionClient",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            path: "docs/examples/service", exclude: ["client.py", "curl.sh"],
            sources: ["Client.swift"]),
        .executableTarget(
            name: "session-example", dependencies: ["CookieModel", "SessionStore"],
            path: "docs/examples/package/Sources/SessionExample"),
        .testTarget(
            name: "CrumbTests",
            dependencies: [
                "crumb", "crumb-network", "jar-worker", "service-client", "session-example", "Platform", "PublicSuffix",
                "CookieModel", "GatewayModel", "HTTPCaching", "CrumbCommands", "OAuth2", "OAuth2Login",
                "OfflinePackages", "RequestDecoration", "SQLiteEngine", "SessionOperations", "SessionStore",
                "TestSupport", "WebPrimitives",
            ],
            exclude: ["Faults/FailingDisk.c"]),
    ]
)

// The libraries' lane leaves out what needs a package of the network, so that its unit tests are built in minutes. All
// packages stay, and so do their checkouts: the lane and the whole share what they build.
if Context.environment["CRUMB_LANE"] == "libraries" {
    let packages: Set = ["swift-crypto", "swift-http-types"]
    var kept: Set<String> = []
    // A target stands after those that it depends on.
    package.targets.removeAll { target in
        let isKept = target.dependencies.allSatisfy { dependency in
            switch dependency {
            case .productItem(_, let package, _, _): package.map(packages.contains) ?? false
            case .byNameItem(let name, _), .targetItem(let name, _): kept.contains(name)
            @unknown default: false
            }
        }
        if isKept, target.name != "CQRencode" { kept.insert(target.name) }
        return !kept.contains(target.name)
    }
    package.products.removeAll { !kept.contains($0.name) }
}

// The fuzz targets read archives, which no consumer does.
if Context.environment["CRUMB_LANE"] == "fuzzing" {
    for name in ["OfflinePackages"] { package.products.append(.library(name: name, targets: [name])) }
}

// A package that uses only some products resolves only the packages that their traits name. Packages that are not listed are
// those of the programs.
let gateway: Set = ["Gateway", "Programs"]
let client: Set = ["AsyncHTTPClient", "Programs"]
let traits: [String: Set<String>] = [
    "swift-crypto": store, "swift-http-types": store,
    "async-http-client": client, "swift-nio-extras": client,
    "swift-nio": gateway.union(client), "swift-nio-ssl": gateway.union(client),
    "swift-nio-http2": gateway, "swift-certificates": gateway, "swift-asn1": gateway,
    "jwt-kit": ["OpenIDConnect", "Programs"],
]
for target in package.targets {
    target.dependencies = target.dependencies.map { dependency in
        guard case .productItem(let name, let package?, _, _) = dependency else { return dependency }
        return .product(name: name, package: package, condition: .when(traits: traits[package] ?? ["Programs"]))
    }
}

// A warning of a new compiler stops the project's own builds, and never that of an app.
let warnings: [SwiftSetting] =
    Context.environment["CRUMB_WARNINGS"] == "errors" ? [.treatAllWarnings(as: .error)] : []
for target in package.targets where target.type != .system {
    target.swiftSettings =
        [.swiftLanguageMode(.v6)] + warnings + upcomingFeatures.map { .enableUpcomingFeature($0) }
}
