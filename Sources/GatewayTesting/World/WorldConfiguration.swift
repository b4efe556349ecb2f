// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayConfig
import NIOConcurrencyHelpers
import SyncModel

/// Configures the gateways of a world for the simulated backend.
enum WorldConfiguration {
    static let url = "http://backend.test"
    static let day: Int64 = 86_400_000
    /// The time for which ways back are kept, and the time for cursors and tombstones.
    static let rewind = 7 * day
    static let maxOffline = 100 * day
    /// The time after which a lease passes on, and the time limit of calls to the backend, in milliseconds.
    static let lease: Int64 = 30_000
    static let callTimeout: Int64 = 60_000
    /// The share of records, in percent, that may be missing in a comparison.
    private static let maxSweep = 60

    /// Sizes so small that short schedules have many of everything.
    static var tuning: GatewayTuning {
        var tuning = GatewayTuning()
        (tuning.chunkBytes, tuning.batchChunks, tuning.deltas, tuning.undos) = (160, 1, 2, 10)
        (tuning.runEntries, tuning.cachedBytes, tuning.missingRecords) = (5, 1, 3)
        return tuning
    }

    private struct Key: Hashable {
        var setup: WorldSetup
        var mapping: Int
    }

    // A schedule starts many gateways with the same file.
    private static let loaded = NIOLockedValueBox<[Key: Configuration]>([:])

    static func load(_ setup: WorldSetup, mapping: Int) throws -> Configuration {
        let key = Key(setup: setup, mapping: mapping)
        if let known = loaded.withLockedValue({ $0[key] }) { return known }
        let configuration = try Configuration.load(text(setup, mapping: mapping), environment: [:])
        loaded.withLockedValue { loaded in
            if loaded.count >= 256 { loaded = [:] }
            loaded[key] = configuration
        }
        return configuration
    }

    private static func text(_ setup: WorldSetup, mapping: Int) -> String {
        let carried = setup.checkpoints == .request ? #","checkpoints":"{checkpoints}""# : ""
        return """
            [gateway]
            listen = 127.0.0.1:0
            [state]
            url = sqlite:unused.db
            lease = \(lease / 1_000)s
            [identity]
            principal = backend:GET /me id
            key = a-key-of-a-world-that-is-no-secret
            [backend]
            url = \(url)
            stream = POST /sync/stream body {"types":"{types}"\(carried)}
            ack = POST /sync/ack body {"acks":"{acks}"}
            ack_batch = \(setup.ackBatch)
            list = GET /sync/ack
            forget = DELETE /sync/ack body {"types":"{namespaces}"}
            checkpoints = \(setup.checkpoints)
            total_timeout = \(callTimeout / 1_000)s
            [push]
            \(setup.pushStyle == .stream ? "path = POST /sync/push" : "parallel = 3")
            conflicts = \(setup.checksConflicts && setup.hasLedger ? "stream" : "none")
            cascade = \(setup.cascades && setup.hasLedger ? "gateway" : "backend")
            rejected = \(setup.pushStyle == .calls ? setup.rejected : .fail)
            retry_budget = 2s
            \(setup.pushBatch.map { "batch = \($0)" } ?? "")
            [ledger]
            mode = \(setup.hasLedger ? "full" : "off")
            max_offline = 100d
            \(setup.hasLedger ? "rewind = 7d\nmax_sweep = \(maxSweep)%\nresweep_parallel = 1" : "")
            [limits]
            answers_kept = \(setup.keepsAnswers ? "64MiB" : "0MiB")
            [schema]
            version = 2
            oldest = 1
            migrations_enabled_at = 1
            \(tables(setup, mapping: mapping))
            """
    }

    /// Returns the calls by which a table is pushed, if pushes are no stream.
    private static func calls(_ name: String, makesIDs: Bool) -> String {
        let members = #""value":"{value}","parent":"{parent}"\#(name == "tasks" ? #","mark":"{mark}""# : "")"#
        let create =
            makesIDs
            ? #"POST /\#(name) returns id ref clientId body {\#(members),"clientId":"{id}"}"#
            : "PUT /\(name)/{id} body {\(members)}"
        return """
            create = \(create)
            update = PATCH /\(name)/{id} missing 404
            remove = DELETE /\(name)/{id} missing 404
            """
    }

    private static func tables(_ setup: WorldSetup, mapping: Int) -> String {
        // Another feed that nothing ever comes from makes it another mapping.
        let columns = """
            value = number value | before\(mapping)
            parent = string
            """
        var ids = SimulatedIDs()
        ids.isOn = setup.makesIDs
        func table(_ table: SimulatedTable, _ lines: String, more: String = "") -> String {
            let reference = table.parent.map { ids.makes($0) ? " ref \($0)" : "" } ?? ""
            return """
                [table \(table)]
                \(lines)
                \(setup.pushStyle == .stream ? "" : calls(table.name, makesIDs: ids.makes(table)))
                [columns \(table)]
                \(columns)\(reference)\(more)
                """
        }
        let purge = setup.hasLedger ? ", PartnerFilePurgeV1 where parent = owner" : ""
        return [
            table(
                .projects,
                """
                request = ProjectsV1 then ProjectsV2 since 2
                upsert = ProjectV1, ProjectV2
                delete = ProjectDeleteV1 by id
                """),
            table(
                .tasks,
                """
                request = TasksV1
                upsert = TaskV1, TaskBackfillV1
                delete = TaskDeleteV1 by id
                \(setup.hasLedger ? "parent = parent projects" : "")
                """, more: "\nmark = number since 2"),
            table(
                .comments,
                """
                request = CommentsV1
                upsert = CommentV1, CommentBackfillV1
                delete = CommentDeleteV1 by id
                \(setup.hasLedger ? "parent = parent tasks" : "")
                """),
            table(
                .folders,
                """
                request = FoldersV1
                upsert = FolderV1
                delete = FolderDeleteV1 by id
                \(setup.hasLedger ? "parent = parent folders" : "")
                """),
            table(
                .files,
                """
                request = FilesV1, PartnerFilesV1
                upsert = FileV1, PartnerFileV1
                delete = FileDeleteV1 by id, PartnerFileDeleteV1 by id\(purge)
                """),
            table(
                .notes,
                """
                since = 2
                request = NotesV1
                upsert = NoteV1
                delete = NoteDeleteV1 by id
                """),
        ].joined(separator: "\n")
    }
}
