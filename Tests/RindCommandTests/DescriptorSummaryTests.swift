// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import SyncModel
import Testing

@testable import rind

/// How many descriptors a gateway needs, and what it does with fewer.
@Suite struct DescriptorSummaryTests {
    private static func descriptors(soft: Int, hard: Int) -> Descriptors {
        let url = BaseURL(isTLS: false, host: "127.0.0.1", port: 1, path: "")
        var configuration = Configuration(
            identity: .init(principal: .bearer, key: Secret(bytes: Array(repeating: 7, count: 32))),
            backend: .init(url: url), schema: Schema(tables: []))
        configuration.limits.connections = 1_000
        configuration.limits.pulls = 10
        configuration.backend.maxConnections = 100
        return Descriptors(configuration, soft: soft, hard: hard)
    }

    @Test func `with enough descriptors all connections fit`() {
        let descriptors = Self.descriptors(soft: 5_000, hard: 5_000)
        #expect(descriptors.needed == 2 * 1_000 + 64 + 100 + 12 + 40 + 192)
        #expect(descriptors.fittingConnections == 1_000 && descriptors.allowed == 5_000)
        #expect(descriptors.summary == "2408 needed and allowed")
    }

    @Test func `a low soft limit is raised as far as needed`() {
        let descriptors = Self.descriptors(soft: 1_024, hard: 5_000)
        #expect(descriptors.allowed == 2_408 && descriptors.fittingConnections == 1_000)
        #expect(descriptors.summary == "2408 needed, the start raises the limit of 1024")
    }

    @Test func `a low hard limit leaves fewer connections, and says how many`() {
        let descriptors = Self.descriptors(soft: 512, hard: 1_025)
        #expect(descriptors.allowed == 1_025 && descriptors.fittingConnections == 1_000 - 692)
        #expect(descriptors.summary == "2408 needed, 1025 allowed: only 308 connections of clients")
        #expect(Self.descriptors(soft: 64, hard: 64).fittingConnections == 16)
    }
}
