// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// What each target may import; everything else is a mistake, also where the manifest would allow it.
///
/// A new dependency gets its place here together with its sentence in docs/ARCHITECTURE.md.
enum ImportTable {
    /// The targets from the ground up.
    ///
    /// A target imports what lies on lower floors, never its own or a higher one.
    static let floors: [[String]] = [
        ["CCurl", "CMalloc", "CZlib"],
        ["JSONBytes", "SyncModel", "Gzip", "Curl"],
        ["INI"],
        ["WatermelonWire", "SyncEngine", "StateStore", "Backend", "GatewayConfig", "DemoBackend"],
        ["SQLiteState", "MemoryState"],
        ["Gateway"],
        ["GatewayServer"],
        ["rind", "rind-bench", "GatewayTesting"],
    ]

    /// Targets that compute and nothing else: no I/O, no clock, no C, no Foundation, not even the system's C library.
    static let pure: Set = ["INI", "JSONBytes", "SyncModel", "WatermelonWire", "SyncEngine", "StateStore"]

    /// What comes with the toolchain.
    ///
    /// FoundationNetworking is not among it: libcurl is the only way to a backend.
    static let toolchain: Set = [
        "Darwin", "Dispatch", "Foundation", "FoundationEssentials", "Glibc", "Musl", "Synchronization",
    ]

    /// What every test target may import on top of its row.
    static let testing: Set = toolchain.union(["Testing"])

    /// Our own targets and packages of others, for each target that has code.
    static let rows: [String: Set<String>] = [
        "INI": ["SyncModel"],
        "JSONBytes": [],
        "SyncModel": [],
        "WatermelonWire": ["JSONBytes", "SyncModel"],
        "SyncEngine": ["JSONBytes", "SyncModel"],
        "StateStore": ["SyncModel"],

        "Gzip": ["CZlib", "NIOCore"],
        "Curl": ["CCurl", "HTTPTypes", "NIOConcurrencyHelpers", "NIOCore"],
        "SQLiteState": ["Crypto", "GRDB", "NIOConcurrencyHelpers", "StateStore", "SyncModel"],
        "MemoryState": ["NIOConcurrencyHelpers", "StateStore", "SyncModel"],
        "Backend": [
            "Curl", "Gzip", "HTTPTypes", "JSONBytes", "Logging", "NIOConcurrencyHelpers", "NIOCore", "SyncModel",
        ],
        "GatewayConfig": ["INI", "JSONBytes", "SyncModel"],
        "DemoBackend": [
            "CZlib", "GRDB", "HTTPTypes", "Hummingbird", "JSONBytes", "Logging", "NIOConcurrencyHelpers", "NIOCore",
            "ServiceLifecycle",
        ],

        "Gateway": [
            "Backend", "CMalloc", "Crypto", "Curl", "DequeModule", "GatewayConfig", "HTTPTypes", "JSONBytes", "Logging",
            "NIOConcurrencyHelpers", "NIOCore", "NIOPosix", "StateStore", "SyncEngine", "SyncModel", "WatermelonWire",
        ],
        "GatewayServer": [
            "Backend", "Curl", "Gateway", "GatewayConfig", "Gzip", "HTTPTypes", "HummingbirdCore", "JSONBytes",
            "Logging", "NIOConcurrencyHelpers", "NIOCore", "NIOHTTP1", "NIOPosix", "ServiceLifecycle", "SyncModel",
            "WatermelonWire",
        ],

        "rind": [
            "ArgumentParser", "Backend", "Curl", "DemoBackend", "Gateway", "GatewayConfig", "GatewayServer", "Gzip",
            "HTTPTypes", "INI", "JSONBytes", "Logging", "NIOCore", "SQLiteState", "ServiceLifecycle", "StateStore",
            "SyncEngine",
            "SyncModel", "UnixSignals",
        ],
        "rind-bench": [
            "ArgumentParser", "DemoBackend", "GatewayConfig", "JSONBytes", "NIOConcurrencyHelpers", "NIOCore",
            "NIOHTTP1", "NIOPosix", "SyncEngine", "SyncModel",
        ],
        "GatewayTesting": [
            "Backend", "Curl", "DemoBackend", "Gateway", "GatewayConfig", "GatewayServer", "HTTPTypes", "JSONBytes",
            "Logging", "MemoryState", "NIOConcurrencyHelpers", "NIOCore", "NIOPosix", "SQLiteState", "ServiceLifecycle",
            "StateStore",
            "SyncEngine",
            "SyncModel", "WatermelonWire",
        ],

        "INITests": ["INI"],
        "JSONBytesTests": ["JSONBytes"],
        "SyncModelTests": ["SyncModel"],
        "WatermelonWireTests": ["JSONBytes", "SyncModel", "WatermelonWire"],
        "SyncEngineTests": ["JSONBytes", "SyncEngine", "SyncModel"],
        "GzipTests": ["Gzip", "NIOCore"],
        "CurlTests": ["Curl", "HTTPTypes", "NIOConcurrencyHelpers", "NIOCore", "NIOHTTP1", "NIOPosix"],
        "StateStoreTests": ["GRDB", "MemoryState", "NIOConcurrencyHelpers", "SQLiteState", "StateStore", "SyncModel"],
        "BackendTests": [
            "Backend", "Curl", "DemoBackend", "Gzip", "HTTPTypes", "JSONBytes", "Logging", "NIOConcurrencyHelpers",
            "NIOCore", "NIOHTTP1", "NIOPosix", "SyncModel",
        ],
        "GatewayConfigTests": ["GatewayConfig", "INI", "SyncModel"],
        "DemoBackendTests": [
            "CZlib", "Curl", "DemoBackend", "HTTPTypes", "JSONBytes", "Logging", "NIOConcurrencyHelpers", "NIOCore",
            "NIOHTTP1", "NIOPosix",
        ],
        "GatewayTests": [
            "Backend", "Curl", "Gateway", "GatewayConfig", "HTTPTypes", "JSONBytes", "Logging", "NIOConcurrencyHelpers",
            "NIOCore", "SQLiteState", "StateStore", "SyncEngine", "SyncModel", "WatermelonWire",
        ],
        "GatewayTestingTests": ["GatewayTesting", "JSONBytes", "SyncModel"],
        "GatewayServerTests": [
            "Curl", "Gateway", "GatewayConfig", "GatewayServer", "Gzip", "HTTPTypes", "Logging",
            "NIOConcurrencyHelpers", "NIOCore", "NIOHTTP1", "NIOPosix", "ServiceLifecycle", "SyncModel",
            "WatermelonWire",
        ],
        "IntegrationTests": [
            "Backend", "Curl", "DemoBackend", "GRDB", "Gateway", "GatewayConfig", "GatewayServer", "GatewayTesting",
            "Gzip", "HTTPTypes", "JSONBytes", "Logging", "NIOConcurrencyHelpers", "NIOCore", "NIOPosix", "SQLiteState",
            "StateStore", "SyncModel", "WatermelonWire",
        ],
        "RindCommandTests": [
            "Curl", "DemoBackend", "Gateway", "GatewayConfig", "HTTPTypes", "JSONBytes", "Logging",
            "NIOConcurrencyHelpers", "NIOCore", "NIOPosix", "SQLiteState", "StateStore", "SyncEngine", "SyncModel",
            "UnixSignals",
            "rind",
        ],
        "SimulationTests": ["GatewayTesting", "JSONBytes", "SyncEngine", "SyncModel"],
        "TidyTests": [],
    ]

    /// All that code of this target may import; nil for a target without a row.
    static func allowed(in target: String) -> Set<String>? {
        guard let row = rows[target] else { return nil }
        if target.hasSuffix("Tests") { return row.union(testing) }
        return pure.contains(target) ? row : row.union(toolchain)
    }

    /// The floor that a target of ours stands on, nil for packages of others and for tests.
    static func floor(of module: String) -> Int? { floors.firstIndex { $0.contains(module) } }
}
