// swift-tools-version: 6.2
import PackageDescription

// What each room may import is held twice: by the dependencies below and by Tests/TidyTests.

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
]

let log: Target.Dependency = .product(name: "Logging", package: "swift-log")
let nioCore: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let nioPosix: Target.Dependency = .product(name: "NIOPosix", package: "swift-nio")
let nioLocks: Target.Dependency = .product(name: "NIOConcurrencyHelpers", package: "swift-nio")
let nioSSL: Target.Dependency = .product(name: "NIOSSL", package: "swift-nio-ssl")
let nioHTTP1: Target.Dependency = .product(name: "NIOHTTP1", package: "swift-nio")
let hummingbirdCore: Target.Dependency = .product(name: "HummingbirdCore", package: "hummingbird")
let hummingbird: Target.Dependency = .product(name: "Hummingbird", package: "hummingbird")
let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")
let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")
let grdbSQLite: Target.Dependency = .product(name: "GRDBSQLite", package: "GRDB.swift")
let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let jwt: Target.Dependency = .product(name: "JWTKit", package: "jwt-kit")
let metrics: Target.Dependency = .product(name: "CoreMetrics", package: "swift-metrics")
let deque: Target.Dependency = .product(name: "DequeModule", package: "swift-collections")
let hashTrees: Target.Dependency = .product(name: "HashTreeCollections", package: "swift-collections")
let lifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let signals: Target.Dependency = .product(name: "UnixSignals", package: "swift-service-lifecycle")
let arguments: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")

let package = Package(
    name: "rind",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "rind", targets: ["rind"]),
        .executable(name: "rind-bench", targets: ["rind-bench"]),
        .executable(name: "rind-count", targets: ["rind-count"]),
        // Preloaded into `rind` by a test.
        .library(name: "AllocationCount", type: .dynamic, targets: ["CAllocationCount"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
    ],
    targets: [
        // The C libraries.
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CMalloc"),
        .systemLibrary(name: "CPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),

        // Pure: no I/O, no NIO, no C, no Foundation.
        .target(name: "INI", dependencies: ["SyncModel"]),
        .target(name: "JSONBytes"),
        .target(name: "SyncModel"),
        .target(name: "WatermelonWire", dependencies: ["JSONBytes", "SyncModel"]),
        .target(name: "LineProjection", dependencies: ["JSONBytes", "SyncModel"]),
        .target(name: "Deduplication", dependencies: ["JSONBytes", "LineProjection", "SyncModel"]),
        .target(name: "Ledger", dependencies: ["Deduplication", "LineProjection", "SyncModel"]),
        .target(
            name: "SyncMachines",
            dependencies: ["Deduplication", "JSONBytes", "Ledger", "LineProjection", "SyncModel"]),
        .target(name: "StateStore", dependencies: ["SyncModel"]),
        .target(name: "StateSQL", dependencies: ["StateStore"]),

        // What speaks to the outside.
        .target(name: "Gzip", dependencies: ["CZlib", nioCore]),
        .target(name: "Telemetry", dependencies: [metrics, nioLocks]),
        .target(name: "Threads", dependencies: [nioLocks]),
        .target(name: "Curl", dependencies: ["CCurl", "Threads", nioCore, nioLocks, httpTypes]),
        .target(name: "Postgres", dependencies: ["CPQ", "SyncModel", "Threads", nioCore, nioLocks, log]),
        .target(name: "Accounts", dependencies: ["StateStore", "SyncModel", deque, hashTrees, nioLocks]),
        .target(name: "StateProbes", dependencies: ["StateStore", nioLocks]),
        .target(
            name: "SQLiteState",
            dependencies: [
                "Accounts", "StateProbes", "StateSQL", "StateStore", "SyncModel", grdb, grdbSQLite, nioLocks,
            ]),
        .target(
            name: "PostgresState",
            dependencies: ["Accounts", "Postgres", "StateProbes", "StateSQL", "StateStore", "SyncModel", log]),
        .target(
            name: "Backend",
            dependencies: ["Curl", "Gzip", "JSONBytes", "SyncModel", "Telemetry", nioCore, nioLocks, httpTypes, log]),
        .target(name: "GatewayConfig", dependencies: ["INI", "JSONBytes", "SyncModel"]),

        // The gateway.
        .target(
            name: "Gateway",
            dependencies: [
                "Accounts", "Backend", "CMalloc", "Curl", "Deduplication", "GatewayConfig", "JSONBytes", "Ledger",
                "LineProjection", "StateStore", "SyncMachines", "SyncModel", "Telemetry", "WatermelonWire", nioCore,
                nioPosix, nioLocks, httpTypes, crypto, deque, jwt, log,
            ]),
        .target(
            name: "GatewayServer",
            dependencies: [
                "Backend", "Curl", "Gateway", "GatewayConfig", "Gzip", "JSONBytes", "StateStore", "SyncModel",
                "Telemetry", "WatermelonWire", hummingbirdCore, httpTypes, nioCore, nioPosix, nioLocks, nioHTTP1,
                nioSSL, lifecycle, log,
            ]),
        .target(
            name: "DemoBackend",
            dependencies: ["CZlib", hummingbird, httpTypes, grdb, nioCore, nioLocks, lifecycle, log]),
        .executableTarget(
            name: "rind",
            dependencies: [
                "Accounts", "Backend", "Curl", "Deduplication", "DemoBackend", "Gateway", "GatewayConfig",
                "GatewayServer", "Gzip", "INI", "JSONBytes", "Ledger", "LineProjection", "Postgres", "PostgresState",
                "SQLiteState",
                "StateProbes", "StateStore", "SyncMachines", "SyncModel", "Telemetry", arguments, httpTypes, lifecycle,
                log, nioCore, nioLocks, nioPosix, signals,
            ]),
        .executableTarget(
            name: "rind-bench",
            dependencies: [
                // Not imported, only built along: it is what FirstSync runs.
                "rind",
                "Deduplication", "DemoBackend", "GatewayConfig", "Gzip", "JSONBytes", "Ledger", "LineProjection",
                "PostgresState", "PostgresTesting", "SQLiteState", "StateStore", "SyncMachines", "SyncModel", arguments,
                log, nioCore, nioHTTP1, nioLocks, nioPosix,
            ]),
        .executableTarget(
            name: "rind-count", dependencies: ["Deduplication", "JSONBytes", "Ledger", "LineProjection", "SyncModel"]),
        .target(name: "CAllocationCount"),
        .target(name: "MemoryState", dependencies: ["StateStore", "SyncModel", nioLocks]),
        .target(
            name: "GatewayTesting",
            dependencies: [
                "Accounts", "Backend", "Curl", "Deduplication", "DemoBackend", "Gateway", "GatewayConfig",
                "GatewayServer", "JSONBytes", "Ledger", "LineProjection", "MemoryState", "SQLiteState", "StateStore",
                "SyncMachines",
                "SyncModel", "WatermelonWire", httpTypes, nioCore, nioPosix, nioLocks, lifecycle, log,
            ]),

        .target(name: "PostgresTesting", dependencies: [nioCore, nioPosix, nioLocks]),

        // Tests, one room each.
        .testTarget(name: "INITests", dependencies: ["INI", "SyncModel"]),
        .testTarget(name: "JSONBytesTests", dependencies: ["JSONBytes"]),
        .testTarget(name: "SyncModelTests", dependencies: ["SyncModel"]),
        .testTarget(
            name: "WatermelonWireTests", dependencies: ["WatermelonWire", "JSONBytes", "SyncModel"]),
        .testTarget(name: "LineProjectionTests", dependencies: ["JSONBytes", "LineProjection", "SyncModel"]),
        .testTarget(
            name: "LedgerTests",
            dependencies: ["Deduplication", "JSONBytes", "Ledger", "LineProjection", "SyncMachines", "SyncModel"]),
        .testTarget(
            name: "SyncMachinesTests",
            dependencies: ["Deduplication", "JSONBytes", "Ledger", "LineProjection", "SyncMachines", "SyncModel"]),
        .testTarget(name: "GzipTests", dependencies: ["Gzip", nioCore]),
        .testTarget(
            name: "CurlTests",
            dependencies: ["Curl", "GatewayTesting", nioCore, nioPosix, nioHTTP1, nioLocks, httpTypes]),
        .testTarget(
            name: "PostgresTests",
            dependencies: ["Postgres", "PostgresTesting", "SyncModel", nioCore, nioPosix, nioLocks, log]),
        .testTarget(
            name: "StateStoreTests",
            dependencies: [
                "Accounts", "GatewayTesting", "MemoryState", "Postgres", "PostgresState", "PostgresTesting",
                "SQLiteState", "StateProbes", "StateSQL", "StateStore", "SyncModel", grdb, grdbSQLite, log, nioLocks,
            ]),
        .testTarget(
            name: "BackendTests",
            dependencies: [
                "Backend", "Curl", "DemoBackend", "GatewayTesting", "Gzip", "JSONBytes", "SyncModel", nioCore, nioPosix,
                nioLocks, httpTypes, log,
            ]),
        .testTarget(
            name: "GatewayTests",
            dependencies: [
                "Accounts", "Backend", "Curl", "Deduplication", "Gateway", "GatewayConfig", "JSONBytes", "Ledger",
                "LineProjection", "SQLiteState", "StateStore", "SyncMachines", "SyncModel", "WatermelonWire",
                crypto, httpTypes, nioCore, nioLocks, log,
            ], exclude: ["Fixtures"]),
        .testTarget(
            name: "GatewayConfigTests", dependencies: ["GatewayConfig", "INI", "SyncModel"], exclude: ["Fixtures"]),
        .testTarget(
            name: "DemoBackendTests",
            dependencies: ["DemoBackend", "CZlib", nioCore, nioPosix, nioHTTP1, httpTypes, log]),
        .testTarget(
            name: "GatewayServerTests",
            dependencies: [
                "Curl", "Gateway", "GatewayConfig", "GatewayServer", "GatewayTesting", "Gzip", "StateStore",
                "SyncModel",
                "Telemetry", "WatermelonWire", httpTypes, lifecycle, log, nioCore, nioHTTP1, nioLocks, nioPosix,
            ]),
        .testTarget(
            name: "IntegrationTests",
            dependencies: [
                "Accounts", "Backend", "Curl", "DemoBackend", "Gateway", "GatewayConfig", "GatewayServer",
                "GatewayTesting",
                "Gzip", "JSONBytes", "PostgresTesting", "SQLiteState", "StateStore", "SyncModel", "WatermelonWire",
                crypto, grdb, httpTypes, nioCore, nioPosix, nioLocks, log,
            ]),
        .testTarget(
            name: "RindCommandTests",
            dependencies: [
                "Accounts", "rind", "Backend", "Curl", "Deduplication", "DemoBackend", "Gateway", "GatewayConfig",
                "GatewayTesting",
                "JSONBytes", "Ledger", "LineProjection", "PostgresTesting", "SQLiteState", "StateStore", "SyncMachines",
                "SyncModel", httpTypes, log, nioCore, nioPosix, nioLocks, signals,
            ],
            exclude: ["Fixtures"]),
        .testTarget(
            name: "SimulationTests",
            dependencies: [
                "Deduplication", "GatewayTesting", "JSONBytes", "Ledger", "LineProjection", "SyncMachines",
                "SyncModel",
            ]),
        .testTarget(name: "GatewayTestingTests", dependencies: ["GatewayTesting", "JSONBytes"]),
        .testTarget(name: "TelemetryTests", dependencies: ["Telemetry", metrics]),
        .testTarget(name: "TidyTests"),
    ],
    swiftLanguageModes: [.v6]
)

let pure: Set<String> = ["INI", "SyncModel", "WatermelonWire"]
for target in package.targets where target.type != .system && target.name != "CAllocationCount" {
    target.swiftSettings = strict + (pure.contains(target.name) ? [.strictMemorySafety()] : [])
}
