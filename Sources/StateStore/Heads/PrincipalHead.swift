// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// The part of a principal's state that is always at hand: small, and changed seldom.
package struct PrincipalHead: Hashable, Sendable {
    /// The principal.
    package var principal: Principal
    /// The time at which it last got a cursor, to about a day.
    package var lastSeen: Instant
    /// The greatest cursor whose row is gone: no number up to it is handed out again.
    var newestGone: Cursor?
    /// The time up to which its cursors are distrusted.
    package var distrustedAt: Instant = 0
    /// The number of push notes so far.
    package var noteSequence: Int64 = 0
    /// The number of notes that are kept.
    package var notes = 0
    /// The number of id mappings so far.
    package var idSequence: Int64 = 0
    /// The number of resets that all its sessions have seen.
    package var resets = 0
    /// The numbers of resets that single sessions have seen, by their digests.
    var sessionResets: [String: Int] = [:]
    /// The receipts whose bodies are rows, oldest first.
    var receipts: [ReceiptHead] = []
    /// The replicas that have never come back.
    package var newcomers = Newcomers()
    /// The first syncs that no device has come back from.
    package var firstSyncs = FirstSyncs()
    /// The number of replicas.
    package var replicas = 0
    /// The number of replicas with a ledger.
    package var ledgers = 0
    /// The numbers of the open journals, oldest first.
    package var openJournals: [Int64] = []
    /// The number of pushed records in quarantine.
    package var quarantined = 0
    /// The number of those that the operator has scheduled.
    package var scheduled = 0
    /// The parts that a newer gateway has appended.
    var later: [UInt8] = []

    /// Creates the head of a principal that the state has not met before.
    package init(_ principal: Principal, at now: Instant) {
        self.principal = principal
        lastSeen = now
    }

    /// Reads a head; the error says whose head is damaged, and what helps.
    package init(_ row: ByteRow) throws(StateError) {
        guard let head = try? Self(decoding: row.bytes) else { throw Self.damage(of: row.key.owner) }
        self = head
    }

    /// Returns the error for a head that cannot be read.
    package static func damage(of owner: Int64) -> StateError {
        let principal = Principal(damaged: owner)
        return .corrupt("what it knows of principal \(principal) cannot be read; 'rind principals erase' deletes it")
    }

    /// Returns the number of resets that a session has seen.
    func generation(of session: Session) -> Int { resets + (sessionResets[session.rawValue] ?? 0) }
}

/// A receipt without its answer.
struct ReceiptHead: Hashable, Coded {
    var digest = ""
    var savedAt: Instant = 0
    var expiresAt: Instant = 0

    mutating func code(with coder: inout Coder) throws(StateError) { try coder.code(&digest, &savedAt, &expiresAt) }
}

extension Principal: Coded {
    package init() { self.init(rawValue: "") }

    /// Codes the digits of principal and user as half as many bytes.
    package mutating func code(with coder: inout Coder) throws(StateError) {
        var (digest, user) = (HexDigits(rawValue), origin.map { HexDigits($0.user) })
        var scope = origin?.scope
        try coder.code(&digest, &user, &scope)
        let origin = user.flatMap { user in scope.map { Principal.Origin(user: user.text, scope: $0) } }
        self = Principal(rawValue: digest.text, origin: origin)
    }
}

extension PrincipalHead: Coded {
    package init() { self.init(Principal(), at: 0) }

    package mutating func code(with coder: inout Coder) throws(StateError) {
        try coder.code(&principal, &lastSeen)
        try coder.code(&newestGone)
        try coder.code(&distrustedAt, &noteSequence, &notes, &idSequence, &resets)
        try coder.code(hex: &sessionResets)
        try coder.code(&receipts, &newcomers, &firstSyncs, &replicas, &ledgers)
        try coder.code(&openJournals, &quarantined, &scheduled)
        coder.code(rest: &later)
    }
}
