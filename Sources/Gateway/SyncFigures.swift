// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import Ledger
package import Logging
import SyncModel

/// Holds the figures of one sync request, for its log line and the metrics.
package struct SyncFigures: Sendable {
    /// The first digits of the principal's digest.
    package var principal = ""
    /// The replica, once it is known.
    package var replica: String?
    /// The cursor that the client sent.
    package var presented: Int64?
    /// The ages of the client's cursor and of its device; nil if the state knows neither.
    package var ages: Ages?
    /// The cursor that the client got.
    package var cursor: Int64?
    /// `first`, `later`, `replacement`, `idle` or `push`.
    package var mode = ""
    /// The reason for a full stream; nil on a plain pull.
    package var restart: String?
    /// The client's schema versions before and after an update; nil for most pulls.
    package var migration: String?
    /// Lines that the backend sent.
    package var lines = 0
    /// Lines that the backend had sent for an earlier pull, whose answer the client did not get.
    package var linesKept = 0
    /// Records that go out or came in.
    package var records = 0
    /// Ids of deleted records that go out or came in.
    package var deletions = 0
    /// Lines that a later line of the same stream superseded.
    package var superseded = 0
    /// Lines that were quarantined.
    package var quarantined = 0
    /// Values that were replaced by a default or repaired.
    package var repaired = 0
    /// The same values by column, and times without a zone.
    package var columnProblems: [ColumnProblem] = []
    /// Records and columns that are not in the configuration.
    package var dropped = 0
    /// Lines of types that are not in the configuration.
    package var unknownTypes = 0
    /// Pushed records that were changed elsewhere, by table.
    package var conflicts: [String: Int] = [:]
    /// Deletions of descendants that the gateway has added to a push.
    package var descendants = 0
    /// Records that were pushed over changes that could not be read.
    package var unseen = 0
    /// Bytes that the backend sent, after decompression.
    package var backendBytes = 0
    /// The number of times that the stream broke and was resumed.
    package var resumes = 0
    /// The number of diffs with the client's ledger.
    package var looks = 0
    /// The request type of a full comparison that nothing demanded; nil for most pulls.
    package var comparison: String?
    /// The figures of the diff.
    package var diffed = LedgerDiffFigures()

    /// Changes that the stream had missed and the diff has found.
    package var repairs: Int { diffed.repairs }
    /// Deletions of records that did not come with a full stream.
    package var absent: Int { diffed.absent }
    /// Deletions that the diff has held back.
    package var heldBack: Int { diffed.heldBack }

    /// The ages of a cursor and of the device that presents it.
    package struct Ages: Sendable {
        /// The time since the cursor was made, so the most that the client lacks.
        package let cursor: Duration
        /// The time since the first pull of the device.
        package let device: Duration

        init(of cursor: Cursor, since began: Instant, at now: Instant) {
            self.cursor = .milliseconds(max(0, now.milliseconds(since: cursor.time)))
            device = .milliseconds(max(0, now.milliseconds(since: began)))
        }
    }

    /// Notes the values that could not be taken as they came.
    mutating func note(_ problems: [ColumnProblem]) {
        columnProblems = problems
        repaired = problems.reduce(0) { $0 + ([.noZone, .withheld].contains($1.kind) ? 0 : $1.count) }
    }

    /// Creates figures of nothing.
    package init() {}

    /// The figures that are not zero, as fields of a log line.
    package var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = ["principal": .string(principal), "mode": .string(mode)]
        if let replica { metadata["replica"] = .string(replica) }
        if let presented { metadata["presented"] = .string(String(presented)) }
        if let cursor { metadata["cursor"] = .string(String(cursor)) }
        if let restart { metadata["restart"] = "\(restart)" }
        if let migration { metadata["migration"] = "\(migration)" }
        if let comparison { metadata["sweep"] = "\(comparison)" }
        let counts = [
            "lines": lines, "lines_kept": linesKept, "records": records, "deletions": deletions,
            "superseded": superseded,
            "quarantined": quarantined, "repaired": repaired, "dropped": dropped, "unknown_types": unknownTypes,
            "backend_bytes": backendBytes, "resumes": resumes, "equal": diffed.equal,
            "echoes": diffed.echoes, "absent": diffed.absent, "descendants": diffed.descendants + descendants,
            "held_back": diffed.heldBack, "repairs": diffed.repairs,
            "conflicts": conflicts.values.reduce(0, +), "unseen": unseen,
        ]
        for (table, count) in conflicts.sorted(by: { $0.key < $1.key }).prefix(20) {
            metadata["conflicts.\(table)"] = "\(count)"
        }
        for (name, count) in counts where count != 0 { metadata[name] = "\(count)" }
        return metadata
    }
}
