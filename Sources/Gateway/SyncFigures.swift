// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import Ledger
package import Logging
import SyncModel

/// What one sync request came to, for its log line and the metrics.
package struct SyncFigures: Sendable {
    /// The first digits of the principal's digest.
    package var principal = ""
    /// The replica, once it is known.
    package var replica: String?
    /// The cursor that the client sent.
    package var presented: Int64?
    /// The cursor that it got.
    package var cursor: Int64?
    /// `first`, `later`, `replacement`, `idle` or `push`.
    package var mode = ""
    /// Why the whole stream came; nil on a plain pull.
    package var restart: String?
    /// From which schema version to which one the client has come; nil for most pulls.
    package var migration: String?
    /// Lines that the backend sent.
    package var lines = 0
    /// Lines that it had sent for an earlier pull whose answer the client has not got.
    package var linesKept = 0
    /// Records that go out or came in.
    package var records = 0
    /// Ids of deleted records that go out or came in.
    package var deletions = 0
    /// Lines that a later line of the same stream made void.
    package var superseded = 0
    /// Lines that were set aside.
    package var quarantined = 0
    /// Values that became a default or were repaired.
    package var repaired = 0
    /// Records and columns that are not in the configuration.
    package var dropped = 0
    /// Lines of types that are not in the configuration.
    package var unknownTypes = 0
    /// Pushed records that somebody else had changed, by table.
    package var conflicts: [String: Int] = [:]
    /// Deletions that the gateway has added to a push, of what hangs on deleted records.
    package var descendants = 0
    /// Pushed records over changes that could not be read.
    package var unseen = 0
    /// Bytes that the backend sent, after decompression.
    package var backendBytes = 0
    /// How often the stream broke and was taken up again.
    package var resumes = 0
    /// How often what came was compared with what the client has.
    package var looks = 0
    /// The request type of which everything was compared although nothing demanded it; nil for most pulls.
    package var comparison: String?
    /// What comparing came to.
    package var diffed = LedgerDiffFigures()

    /// Nothing yet.
    package init() {}

    /// The figures that are not zero, as fields of a log line.
    package var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = ["principal": "\(principal)", "mode": "\(mode)"]
        if let replica { metadata["replica"] = "\(replica)" }
        if let presented { metadata["presented"] = "\(presented)" }
        if let cursor { metadata["cursor"] = "\(cursor)" }
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
