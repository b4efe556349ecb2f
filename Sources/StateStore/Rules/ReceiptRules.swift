// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

/// Keeps the answers of pushes for clients that repeat them (finding 18).
package enum ReceiptRules {
    private static func rowKey(_ digest: String, _ owner: Int64) -> RowKey {
        RowKey(.receipt, of: owner, Array(digest.utf8))
    }

    /// Returns the answer to this very push, if it was given a moment ago and no pull has been answered since (finding
    /// 18).
    package static func receipt(_ digest: String, at now: Instant, of account: inout Account) throws -> Receipt? {
        let digest = try key(digest, "push digest")
        guard let receipts = try account.head()?.receipts,
            receipts.contains(where: { $0.digest == digest && $0.savedAt <= now && $0.expiresAt > now })
        else { return nil }
        return try account.value(rowKey(digest, account.owner), as: Receipt.self)?.value
    }

    /// Keeps the answer of a push, before its 2xx goes out, in place of one to the same push, and no more of them than
    /// the limit.
    ///
    /// - Throws: ``StateError/tooLarge(_:)`` for a body over the limit: answer without a receipt.
    package static func save(_ receipt: Receipt, at now: Instant, in account: inout Account) throws {
        let limits = account.setting.limits
        guard receipt.body.count <= limits.receiptBytes else { throw StateError.tooLarge("answer of the push") }
        _ = try (key(receipt.digest, "push digest"), key(receipt.contentType, "content type"))
        var gone: [ReceiptHead] = []
        try account.withHead(at: now) { head in
            gone = head.receipts.filter { $0.expiresAt <= now || $0.digest == receipt.digest }
            head.receipts.removeAll { $0.expiresAt <= now || $0.digest == receipt.digest }
            head.receipts.append(
                ReceiptHead(digest: receipt.digest, savedAt: now, expiresAt: receipt.expiresAt))
            let surplus = max(0, head.receipts.count - max(1, limits.receiptsPerPrincipal))
            gone += head.receipts.prefix(surplus)
            head.receipts.removeFirst(surplus)
        }
        for receipt in gone { account.delete(rowKey(receipt.digest, account.owner)) }
        try account.put(receipt, at: rowKey(receipt.digest, account.owner))
    }

    /// Deletes all receipts, as every pull does.
    package static func drop(in account: inout Account) throws {
        guard let receipts = try account.head()?.receipts, !receipts.isEmpty else { return }
        for receipt in receipts { account.delete(rowKey(receipt.digest, account.owner)) }
        try account.withKnownHead { $0.receipts = [] }
    }

    static func collect(at now: Instant, in account: inout Account) throws -> Int {
        let expired = (try account.head()?.receipts ?? []).filter { $0.expiresAt <= now }
        for receipt in expired { account.delete(rowKey(receipt.digest, account.owner)) }
        if !expired.isEmpty { try account.withKnownHead { $0.receipts.removeAll { $0.expiresAt <= now } } }
        return expired.count
    }
}

/// The answer to a push, kept in case the client has never received it (finding 18).
package struct Receipt: Hashable, Sendable {
    /// The HTTP status.
    package var status: Int
    /// The content type of the body.
    package var contentType: String
    /// The body.
    package var body: [UInt8]
    /// The digest of the push's cursor and body, hexadecimal; empty once the receipt was found.
    package var digest = ""
    /// The time at which it expires; 0 once it was found.
    package var expiresAt: Instant = 0

    /// Creates a receipt.
    package init(status: Int, contentType: String, body: [UInt8]) {
        self.status = status
        self.contentType = contentType
        self.body = body
    }
}

extension Receipt: Coded {
    package init() { self.init(status: 0, contentType: "", body: []) }

    /// Codes the answer; its key and its principal's head have the rest.
    package mutating func code(with coder: inout Coder) throws(StateError) {
        try coder.code(&status, &contentType)
        try coder.code(&body)
    }
}
