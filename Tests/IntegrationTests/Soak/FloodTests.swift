// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Foundation
import GatewayTesting
import Testing

/// Floods of clients that take much and give nothing, beside users who only want to sync.
@Suite(
    .serialized, .timeLimit(.minutes(15)), .enabled(if: GatewayProcess.isBuilt, "the program rind is not built"),
    .enabled(if: SoakSettings.isFlooding, "RIND_TEST_FLOOD=1 lets it loose"))
struct FloodTests {
    /// How long each flood lasts.
    static let duration = Duration.seconds(120)

    @Test func `a flood leaves room for genuine syncs, and bounds to memory and state`() async throws {
        let clients = [FloodBehaviour.slowReaders, .uploads, .idle, .strangers, try .halfSentBodies()]
        try await Self.flood(with: clients, principal: "backend:GET /users/me id") { flood in
            flood.judgeSyncs()
            flood.judgeMemory()
            flood.judgeState(newcomers: 1, growth: 64 << 20)
        }
    }

    /// Where the credential itself names the caller, a made-up one names a user too.
    @Test func `made-up tokens leave nothing in the state where a token names its principal`() async throws {
        try await Self.flood(with: [.strangers], principal: "bearer") { flood in
            flood.judgeSyncs()
            flood.judgeState(newcomers: 0, growth: 8 << 20)
        }
    }

    private static func flood(
        with clients: [FloodBehaviour], principal: String, _ judge: (Flood) throws -> Void
    ) async throws {
        try raiseDescriptorLimit()
        var options = StackOptions()
        options.backend.accounts[1].tokens.append("device-b2")
        try await GatewayStack.withBackend(options) { backend, directory in
            var seeding = DemoSeed()
            (seeding.projects, seeding.tasks, seeding.comments, seeding.taskTags) = (6, 200, 40, 40)
            try await backend.seed(seeding)
            let relay = BackendRelay(backend: RawHTTPClient(port: try await backend.port)) {
                FloodBackend.course(&$0)
            }
            try await relay.run { url in
                let overrides = ["identity.principal": principal]
                try await GatewayProcess.with(backend: url, directory: directory, overrides: overrides) { gateway in
                    var flood = Flood(gateway: gateway, backend: backend, directory: directory)
                    try await flood.run(clients, for: Self.duration)
                    print("flood, principal = \(principal): \(flood.report)")
                    try judge(flood)
                }
            }
        }
    }

    /// Thousands of connections have two ends in this process and the gateway's.
    private static func raiseDescriptorLimit() throws {
        #if os(Linux)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let resource = RLIMIT_NOFILE
        #endif
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        _ = setrlimit(resource, &limit)
        try #require(limit.rlim_cur >= 8_192, "the flood needs 8,192 descriptors: ulimit -Hn")
    }
}
