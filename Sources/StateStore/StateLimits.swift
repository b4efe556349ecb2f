// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Bounds on what a store keeps and how often it writes.
package struct StateLimits: Hashable, Sendable {
    /// How many different lines the quarantine keeps; the ones that came longest ago go first.
    package var quarantineEntries = 10_000
    /// How many bytes of a quarantined line are kept.
    package var quarantineBytes = 16_384
    /// How large a checkpoint vector may be, in bytes as stored: the tokens, the namespaces and a few bytes each.
    package var vectorBytes = 1 << 20
    /// How large the comparison states of a cursor may be, in bytes as stored.
    package var comparisonBytes = 1 << 20
    /// How large a chunk of a ledger may be.
    package var chunkBytes = 1 << 20
    /// How large the body of a receipt may be.
    package var receiptBytes = 1 << 16
    /// How many receipts one principal may have; the oldest go first.
    package var receiptsPerPrincipal = 64
    /// How many journals of pushes that came to no good end one principal may have; the oldest go first.
    package var journalsPerPrincipal = 16
    /// How many records one principal may have of which operations were refused; the oldest go first.
    package var refusalsPerPrincipal = 64
    /// How many notes of pushes one principal keeps when the next one begins; the oldest go first.
    ///
    /// More than are laid over a ledger, or a cursor from before them would be taken for one that lacks none.
    package var notesPerPrincipal = 60_000
    /// How much older than now "last seen" must be before it is written again, in milliseconds.
    package var touchInterval: Int64 = 60_000
    /// How much older than now "accepted at" must be before it is written again, in milliseconds.
    ///
    /// Keep it below `auth_ttl`, or answers from the state always cost a backend call.
    package var acceptedInterval: Int64 = 10_000
    /// How many rows one transaction of a collection deletes at most, so that it never holds up a pull for long.
    package var collectBatch = 500

    /// The defaults.
    package init() {}
}

/// Checks a text that becomes a key: 1 to 256 bytes without NUL, at which C interfaces would silently cut it.
///
/// - Throws: ``StateError/invalid(_:)`` with the noun.
package func key(_ text: String, _ noun: String) throws(StateError) -> String {
    guard (1...256).contains(text.utf8.count), !text.utf8.contains(0) else { throw .invalid(noun) }
    return text
}

/// Makes a text for the operator storable: without NUL, and cut to about `limit` bytes.
package func remark(_ text: String, limit: Int = 255) -> String {
    let cut = text.utf8.count > limit ? String(decoding: text.utf8.prefix(limit), as: UTF8.self) : text
    return cut.utf8.contains(0) ? String(cut.unicodeScalars.map { $0.value == 0 ? "\u{FFFD}" : Character($0) }) : cut
}

/// Tells whether a time that is written at most once in an interval is written again; false if the clock went back.
package func isDue(_ now: Int64, after last: Int64, _ interval: Int64) -> Bool {
    now > last && now.subtractingReportingOverflow(last).partialValue.magnitude >= interval.magnitude
}
