// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import Foundation
import Gateway
import GatewayConfig
import JSONBytes
import Ledger
import LineProjection
import SQLiteState
import StateStore
import SyncModel
import Testing

/// A state of the quickstart's configuration that a user has, as a gateway would, while commands look into it.
struct StateFixture {
    static let alice = Principal(rawValue: "a11ce00000000000000000000000beef")
    static let bob = Principal(rawValue: "b0b0000000000000000000000000beef")
    static let phone = ReplicaID(rawValue: 0x0123_4567_89ab_cdef)
    static let tablet = ReplicaID(rawValue: 0x0123_4567_0000_0001)
    static let other = ReplicaID(rawValue: 0x7fff_0000_0000_0001)

    let directory: URL
    let store: Accounts
    let configuration: GatewayConfig.Configuration

    /// Makes one with three replicas, lets the body use it while it is open, and removes it.
    static func with(_ body: (StateFixture) async throws -> Void) async throws {
        try await Place.withDirectory { directory in
            let path = directory.appending(path: "rind-state.db").path(percentEncoded: false)
            let store = try await SQLiteStateStore.open(path: path)
            let result: Result<Void, any Error>
            do {
                let fixture = StateFixture(
                    directory: directory, store: store,
                    configuration: try Configuration.load(String(contentsOfFile: Place.quickstart, encoding: .utf8)))
                try await fixture.fill()
                result = .success(try await body(fixture))
            } catch {
                result = .failure(error)
            }
            await store.close()
            try result.get()
        }
    }

    /// Runs a command with the configuration, in the directory of the state.
    func run(_ arguments: String...) async throws -> Finished {
        try await RunningCommand.run(arguments + ["--config", Place.quickstart], directory: directory)
    }

    /// Runs a command that succeeds, and reads its JSON.
    func json(_ arguments: String...) async throws -> JSONValue {
        let result = try await RunningCommand.run(
            arguments + ["--json", "--config", Place.quickstart], directory: directory
        )
        #expect(result.status == 0, "\(result.error)")
        #expect(result.out.hasSuffix("}\n"))
        return try JSONValue.parse(result.out)
    }

    private func fill() async throws {
        let tasks = try chunks(of: "tasks", ["t-1", "t-2", "t-3"], parent: "p-1")
        let projects = try chunks(of: "projects", ["p-1"], parent: nil)
        let comparisons = [
            "TasksV2": FullComparison(doneAt: 1_800_000_000_000, mapping: "m"),
            "ProjectsV2": FullComparison(
                doneAt: 0, triedAt: 1_800_000_000_500, mapping: "m", blockedAt: 1_800_000_000_500),
        ]
        try await commit(
            Self.phone, Self.alice, 1_800_000_000_000, chunks: projects + tasks, comparisons: comparisons,
            result: "first")
        try await store.change(Self.alice) {
            try ReplicaRules.confirm(try cursor(1_800_000_000_000), at: 1_800_000_100_000, in: &$0)
        }
        try await commit(Self.tablet, Self.alice, 1_800_000_200_000)
        try await commit(Self.other, Self.bob, 1_800_000_000_000)
    }

    /// Adds replicas, each of a principal of its own.
    func addReplicas(_ count: Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                group.addTask {
                    try await commit(
                        ReplicaID(rawValue: Int64(number + 1)), Principal(rawValue: "more-\(number)"),
                        1_800_000_000_000)
                }
            }
            try await group.waitForAll()
        }
    }

    private func commit(
        _ replica: ReplicaID, _ principal: Principal, _ time: Int64, chunks: [LedgerChunk]? = nil,
        comparisons: [String: FullComparison] = [:], result: String = "pull"
    ) async throws {
        let row = CursorRow(
            principal: principal, cursor: try cursor(time), replica: replica, parent: nil,
            vector: CheckpointVector(["TagV1": "TagV1|1"]), schemaVersion: 3, session: Session(rawValue: "f0"),
            generation: 0, mappingDigest: "m", comparisons: comparisons)
        let counts = (chunks ?? []).reduce(into: [String: LedgerCount]()) { counts, chunk in
            counts[chunk.table, default: LedgerCount()].held += chunk.entries
            counts[chunk.table, default: LedgerCount()].entries += chunk.entries
            counts[chunk.table, default: LedgerCount()].bytes += chunk.bytes.count
        }
        try await store.commit(
            PullCommit(
                row: row, replica: .new, result: result, now: row.cursor.time,
                ledger: chunks.map { .chunks($0, counts: counts) } ?? .none))
    }

    /// The chunks of records that hang on one parent; their contents are their numbers.
    private func chunks(of name: String, _ ids: [String], parent: String?) throws -> [LedgerChunk] {
        let key = LedgerInspector(configuration: configuration, store: store).key
        let table = try #require(configuration.schema.table(named: name))
        var writer = LedgerChunkWriter(table: name, shape: LedgerShape(table: table))
        let entries = ids.enumerated().map { number, id in
            LedgerEntry(
                id: id, hash: IDHash(id: id, key: key), content: UInt64(number + 1),
                links: parent.map { [IDHash(id: $0, key: key).link] } ?? [])
        }
        for entry in entries.sorted(by: { $0.hash < $1.hash }) { writer.append(entry) }
        return writer.takeRest().map { [$0] } ?? []
    }

    func cursor(_ value: Int64) throws -> Cursor { try #require(Cursor(rawValue: value)) }
}
