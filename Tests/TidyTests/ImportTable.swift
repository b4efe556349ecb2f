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
        ["CAllocationCount", "CCurl", "CMalloc", "CPQ", "CZlib", "Threads"],
        ["JSONBytes", "SyncModel", "Gzip", "Curl", "Telemetry"],
        ["INI", "Postgres"],
        ["LineProjection"],
        ["Deduplication"],
        ["Ledger"],
        ["WatermelonWire", "SyncMachines", "StateStore", "Backend", "GatewayConfig", "DemoBackend"],
        ["Accounts", "StateProbes", "StateSQL"],
        ["SQLiteState", "PostgresState", "MemoryState"],
        ["Gateway"],
        ["GatewayServer"],
        ["rind", "rind-count", "GatewayTesting", "PostgresTesting"],
        ["rind-bench"],
    ]

    /// Targets that compute and nothing else: no I/O, no clock, no C, no Foundation, not even the system's C library.
    static let pure: Set = [
        "INI", "JSONBytes", "SyncModel", "WatermelonWire", "LineProjection", "Deduplication", "Ledger", "SyncMachines",
        "StateSQL", "StateStore",
    ]

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
        "LineProjection": ["JSONBytes", "SyncModel"],
        "Deduplication": ["JSONBytes", "LineProjection", "SyncModel"],
        "Ledger": ["Deduplication", "LineProjection", "SyncModel"],
        "SyncMachines": ["Deduplication", "JSONBytes", "Ledger", "LineProjection", "SyncModel"],
        "StateStore": ["SyncModel"],
        "StateSQL": ["StateStore"],

        "Gzip": ["CZlib", "NIOCore"],
        "Threads": ["NIOConcurrencyHelpers"],
        "Curl": ["CCurl", "HTTPTypes", "NIOConcurrencyHelpers", "NIOCore", "Threads"],
        "Telemetry": ["CoreMetrics", "NIOConcurrencyHelpers"],
        "Postgres": ["CPQ", "Logging", "NIOConcurrencyHelpers", "NIOCore", "SyncModel", "Threads"],
        "Accounts": ["DequeModule", "HashTreeCollections", "NIOConcurrencyHelpers", "StateStore", "SyncModel"],
        "StateProbes": ["NIOConcurrencyHelpers", "StateStore"],
        "SQLiteState": [
            "Accounts", "Crypto", "GRDB", "GRDBSQLite", "NIOConcurrencyHelpers", "StateProbes", "StateSQL",
            "StateStore",
            "SyncModel",
        ],
        "PostgresState": [
            "Accounts", "Crypto", "Logging", "Postgres", "StateProbes", "StateSQL", "StateStore", "SyncModel",
        ],
        "MemoryState": ["NIOConcurrencyHelpers", "StateStore", "SyncModel"],
        "Backend": [
            "Curl", "Gzip", "HTTPTypes", "JSONBytes", "Logging", "NIOConcurrencyHelpers", "NIOCore", "SyncModel",
            "Telemetry",
        ],
        "GatewayConfig": ["INI", "JSONBytes", "SyncModel"],
        "DemoBackend": [
            "CZlib", "GRDB", "HTTPTypes", "Hummingbird", "JSONBytes", "Logging", "NIOConcurrencyHelpers", "NIOCore",
            "ServiceLifecycle",
        ],

        "Gateway": [
            "Accounts", "Backend", "CMalloc", "Crypto", "Curl", "Deduplication", "DequeModule", "GatewayConfig",
            "HTTPTypes",
            "JSONBytes", "JWTKit", "Ledger", "LineProjection", "Logging", "NIOConcurrencyHelpers", "NIOCore",
            "NIOPosix", "StateStore", "SyncMachines", "SyncModel", "Telemetry", "WatermelonWire",
        ],
        "GatewayServer": [
            "Backend", "Curl", "Gateway", "GatewayConfig", "Gzip", "HTTPTypes", "HummingbirdCore", "JSONBytes",
            "Logging", "NIOConcurrencyHelpers", "NIOCore", "NIOHTTP1", "NIOPosix", "NIOSSL", "ServiceLifecycle",
            "StateStore",
            "SyncModel", "Telemetry", "WatermelonWire",
        ],

        "rind": [
            "Accounts", "ArgumentParser", "Backend", "Curl", "Deduplication", "DemoBackend", "Gateway", "GatewayConfig",
            "GatewayServer", "Gzip", "HTTPTypes", "INI", "JSONBytes", "Ledger", "LineProjection", "Logging",
            "NIOConcurrencyHelpers", "NIOCore", "NIOPosix", "Postgres", "PostgresState", "SQLiteState",
            "ServiceLifecycle", "StateProbes", "StateStore", "SyncMachines", "SyncModel", "Telemetry", "UnixSignals",
        ],
        "rind-bench": [
            "ArgumentParser", "Deduplication", "DemoBackend", "GatewayConfig", "Gzip", "JSONBytes", "Ledger",
            "LineProjection", "Logging", "NIOConcurrencyHelpers", "NIOCore", "NIOHTTP1", "NIOPosix", "PostgresState",
            "PostgresTesting", "SQLiteState", "StateStore", "SyncMachines", "SyncModel",
        ],
        "rind-count": ["Deduplication", "JSONBytes", "Ledger", "LineProjection", "SyncModel"],
        "GatewayTesting": [
            "Accounts", "Backend", "Curl", "Deduplication", "DemoBackend", "Gateway", "GatewayConfig", "GatewayServer",
            "HTTPTypes", "JSONBytes", "Ledger", "LineProjection", "Logging", "MemoryState", "NIOConcurrencyHelpers",
            "NIOCore", "NIOPosix", "SQLiteState", "ServiceLifecycle", "StateStore", "SyncMachines", "SyncModel",
            "WatermelonWire",
        ],
        "PostgresTesting": ["NIOConcurrencyHelpers", "NIOCore", "NIOPosix"],

        "INITests": ["INI", "SyncModel"],
        "JSONBytesTests": ["JSONBytes"],
        "SyncModelTests": ["SyncModel"],
        "WatermelonWireTests": ["JSONBytes", "SyncModel", "WatermelonWire"],
        "LineProjectionTests": ["JSONBytes", "LineProjection", "SyncModel"],
        "LedgerTests": ["Deduplication", "JSONBytes", "Ledger", "LineProjection", "SyncMachines", "SyncModel"],
        "SyncMachinesTests": ["Deduplication", "JSONBytes", "Ledger", "LineProjection", "SyncMachines", "SyncModel"],
        "GzipTests": ["Gzip", "NIOCore"],
        "CurlTests": [
            "Curl", "GatewayTesting", "HTTPTypes", "NIOConcurrencyHelpers", "NIOCore", "NIOHTTP1", "NIOPosix",
        ],
        "PostgresTests": [
            "Logging", "NIOConcurrencyHelpers", "NIOCore", "NIOPosix", "Postgres", "PostgresTesting", "SyncModel",
        ],
        "StateStoreTests": [
            "Accounts", "GRDB", "GRDBSQLite", "GatewayTesting", "Logging", "MemoryState",
            "NIOConcurrencyHelpers", "Postgres", "PostgresState", "PostgresTesting", "SQLiteState", "StateProbes",
            "StateSQL", "StateStore", "SyncModel",
        ],
        "BackendTests": [
            "Backend", "Curl", "DemoBackend", "GatewayTesting", "Gzip", "HTTPTypes", "JSONBytes", "Logging",
            "NIOConcurrencyHelpers", "NIOCore", "NIOHTTP1", "NIOPosix", "SyncModel",
        ],
        "GatewayConfigTests": ["GatewayConfig", "INI", "SyncModel"],
        "DemoBackendTests": [
            "CZlib", "Curl", "DemoBackend", "HTTPTypes", "JSONBytes", "Logging", "NIOConcurrencyHelpers", "NIOCore",
            "NIOHTTP1", "NIOPosix",
        ],
        "GatewayTests": [
            "Accounts", "Backend", "Crypto", "Curl", "Deduplication", "Gateway", "GatewayConfig", "HTTPTypes",
            "JSONBytes",
            "Ledger",
            "LineProjection", "Logging", "NIOConcurrencyHelpers", "NIOCore", "SQLiteState", "StateStore",
            "SyncMachines", "SyncModel", "WatermelonWire",
        ],
        "GatewayTestingTests": ["GatewayTesting", "JSONBytes", "SyncModel"],
        "GatewayServerTests": [
            "Curl", "Gateway", "GatewayConfig", "GatewayServer", "GatewayTesting", "Gzip", "HTTPTypes", "Logging",
            "NIOConcurrencyHelpers", "NIOCore", "NIOHTTP1", "NIOPosix", "ServiceLifecycle", "StateStore", "SyncModel",
            "Telemetry", "WatermelonWire",
        ],
        "IntegrationTests": [
            "Accounts", "Backend", "Crypto", "Curl", "DemoBackend", "GRDB", "Gateway", "GatewayConfig", "GatewayServer",
            "GatewayTesting",
            "Gzip", "HTTPTypes", "JSONBytes", "Logging", "NIOConcurrencyHelpers", "NIOCore", "NIOPosix",
            "PostgresTesting", "SQLiteState", "StateStore", "SyncModel", "WatermelonWire",
        ],
        "RindCommandTests": [
            "Accounts", "Backend", "Curl", "Deduplication", "DemoBackend", "Gateway", "GatewayConfig", "GatewayTesting",
            "HTTPTypes", "JSONBytes", "Ledger", "LineProjection", "Logging", "NIOConcurrencyHelpers", "NIOCore",
            "NIOPosix", "PostgresTesting", "SQLiteState", "StateStore", "SyncMachines", "SyncModel", "UnixSignals",
            "rind",
        ],
        "SimulationTests": [
            "Deduplication", "GatewayTesting", "JSONBytes", "Ledger", "LineProjection", "SyncMachines", "SyncModel",
        ],
        "TelemetryTests": ["CoreMetrics", "Telemetry"],
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
