// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Ledger
import SyncModel
import Testing

/// What a record costs in a chunk; the issue allows 26 bytes in the file, 36 with a link and feeds.
@Suite struct LedgerSizeTests {
    @Test(
        arguments: [
            ("16 letters", LedgerShape(links: 0, feeds: 1), 21.05), ("UUID", LedgerShape(links: 0, feeds: 1), 25.05),
            ("16 letters", LedgerShape(links: 1, feeds: 8), 30.05), ("UUID", LedgerShape(links: 1, feeds: 8), 34.05),
            ("two UUIDs", LedgerShape(links: 1, feeds: 1), 49.05),
        ])
    func `a held record takes few bytes`(form: String, shape: LedgerShape, limit: Double) {
        var random = SeededGenerator(seed: 1)
        let letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
        let entries = (0..<20_000).map { _ in
            let id =
                switch form {
                case "UUID": LedgerSupport.randomUUID(&random)
                case "two UUIDs": LedgerSupport.randomUUID(&random) + "." + LedgerSupport.randomUUID(&random)
                default: LedgerSupport.randomText(letters, count: 16, &random)
                }
            return LedgerEntry(
                id: id, hash: LedgerSupport.hash(id), content: random.next(),
                links: (0..<shape.links).map { _ in random.next() }, feeds: shape.feedBytes == 0 ? 0 : 1)
        }
        let bytes = LedgerSupport.chunks(entries, shape: shape).reduce(0) { $0 + $1.bytes.count }
        #expect(Double(bytes) / 20_000 <= limit)
    }
}
