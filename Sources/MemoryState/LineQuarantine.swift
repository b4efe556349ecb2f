// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore
import SyncModel

/// Keeps lines of streams that could not be delivered; a line that is known already is only counted.
struct LineQuarantine: Sendable {
    private var last: Int64 = 0
    var entries: [QuarantinedLine: QuarantineEntry] = [:]
    private(set) var dropped = 0

    mutating func add(
        _ lines: [QuarantinedLine], for principal: Principal, at now: Instant, _ limits: StateLimits
    ) {
        let room = max(1, limits.quarantineEntries)
        for line in lines.prefix(room) {
            var stored = line
            stored.type = line.type.map { remark($0) }
            stored.namespace = line.namespace.map { remark($0) }
            stored.table = line.table.map { remark($0) }
            stored.id = line.id.map { remark($0, limit: 1_024) }
            stored.bytes = Array(line.bytes.prefix(max(0, limits.quarantineBytes)))
            // Two lines are equal if reason, place and id are, or, if no id could be read, their bytes.
            var identity = line
            if line.id != nil { identity.bytes = [] }
            if var entry = entries[identity] {
                entry.count += 1
                entry.lastSeen = max(entry.lastSeen, now)
                entry.principal = principal
                entry.line.bytes = stored.bytes
                entries[identity] = entry
            } else {
                last += 1
                entries[identity] = QuarantineEntry(
                    id: last, line: stored, principal: principal, count: 1, firstSeen: now, lastSeen: now)
            }
        }
        let surplus = max(0, entries.count - room)
        let oldest = entries.sorted { a, b in
            let isFirst = a.value.line.reason.isDelivered
            guard isFirst == b.value.line.reason.isDelivered else { return isFirst }
            return (a.value.lastSeen, a.value.id) < (b.value.lastSeen, b.value.id)
        }
        for (identity, _) in oldest.prefix(surplus) { entries[identity] = nil }
        dropped += surplus + max(0, lines.count - room)
    }

    func entry(_ id: Int64) -> QuarantineEntry? { entries.values.first { $0.id == id } }

    var counts: QuarantineCounts {
        QuarantineCounts(
            entries: entries.count,
            byReason: entries.values.reduce(into: [:]) { $0[$1.line.reason, default: 0] += 1 }, dropped: dropped)
    }
}
