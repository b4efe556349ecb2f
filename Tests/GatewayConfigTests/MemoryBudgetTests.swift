// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayConfig
import INI
import Testing

/// `[limits] memory`, from which other limits get their shares.
@Suite struct MemoryBudgetTests {
    private static func load(_ limits: String, _ further: String = "") -> (Configuration?, [String]) {
        let (configuration, diagnostics) = Support.load(Support.minimal("[limits]\n\(limits)\n\(further)"))
        return (configuration, diagnostics.filter { $0.severity == .error }.map(\.message))
    }

    @Test func `without a budget the limits are the documented ones`() throws {
        let configuration = try #require(Self.load("memory = 0B").0)
        #expect(configuration.limits == Configuration.Limits() && configuration.spool == Configuration.Spool())
        #expect(MemoryNeed.summary(configuration) == nil)
    }

    @Test(arguments: [256, 512, 1_024, 1_500, 2_048, 4_096, 65_536])
    func `limits that are not set fit into two thirds of it, and never exceed their defaults`(mebibytes: Int) throws {
        let configuration = try #require(Self.load("memory = \(mebibytes)MiB").0)
        let (limits, spool) = (configuration.limits, configuration.spool)
        let (usual, usualSpool) = (Configuration.Limits(), Configuration.Spool())
        #expect(MemoryNeed.bytes(configuration) <= (mebibytes << 20) / 3 * 2)
        #expect(limits.pulls >= 1 && limits.pulls <= usual.pulls)
        #expect(limits.connections >= 100 && limits.connections <= usual.connections)
        #expect(limits.body <= limits.inflatedBody && limits.inflatedBody <= limits.pushMemory)
        #expect(limits.pushMemory <= usual.pushMemory && spool.memoryTotal <= usualSpool.memoryTotal)
        #expect(spool.memory <= spool.memoryTotal && limits.answersKept <= spool.memoryTotal)
        #expect(MemoryNeed.summary(configuration)?.contains("\(limits.pulls) pulls") == true)
    }

    @Test func `where there is much memory nothing changes but that it is checked`() throws {
        var configuration = try #require(Self.load("memory = 16GiB").0)
        configuration.limits.memory = 0
        #expect(configuration.limits == Configuration.Limits() && configuration.spool == Configuration.Spool())
    }

    @Test func `a limit that is set keeps its value, and pulls give way`() throws {
        let configuration = try #require(Self.load("memory = 1GiB\npush_memory = 300MiB").0)
        let usual = try #require(Self.load("memory = 1GiB").0)
        #expect(configuration.limits.pushMemory == 300 << 20)
        #expect(configuration.limits.pulls < usual.limits.pulls)
    }

    @Test func `a reload with a larger budget admits no body that the memory of the start cannot hold`() throws {
        let running = try #require(Self.load("memory = 256MiB").0)
        let loaded = try #require(Self.load("memory = 16GiB").0)
        #expect(loaded.limits.inflatedBody > running.limits.pushMemory)
        let (applied, names, _) = loaded.applicable(while: running)
        #expect(names.contains("limits.push_memory"))
        #expect(applied.limits.pushMemory == running.limits.pushMemory)
        #expect(applied.limits.body <= applied.limits.inflatedBody)
        #expect(applied.limits.inflatedBody <= applied.limits.pushMemory)
    }

    @Test(arguments: ["memory = 100MiB", "memory = 1GiB\npulls = 64", "memory = 1GiB\nconnections = 10000"])
    func `limits that exceed it together are refused with the sum`(limits: String) {
        let (configuration, errors) = Self.load(limits)
        #expect(configuration == nil)
        #expect(errors.count == 1 && errors[0].contains("of clients' data"), "\(errors)")
    }
}
