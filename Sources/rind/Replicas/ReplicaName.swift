// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import ArgumentParser
import StateStore
import SyncModel

/// A replica as an operator names it: its 16 hexadecimal digits, or any unique prefix of them.
struct ReplicaName {
    /// The fewest digits that name a replica.
    static let minimum = 4

    private let digits: String

    /// Reads digits that stand in the command line.
    init(validating text: String) throws {
        let digits = text.lowercased()
        guard (Self.minimum...16).contains(digits.utf8.count), Self.isHexadecimal(digits) else {
            throw ValidationError(
                "'\(text.shown(upTo: 40))' is no replica: write 4 to 16 hexadecimal digits of its ID.")
        }
        self.digits = digits
    }

    /// Returns true if a text consists of hexadecimal digits.
    static func isHexadecimal(_ text: String) -> Bool {
        text.utf8.allSatisfy {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
        }
    }

    /// Finds the one replica of this name, which can be read unless the caller has nothing to read.
    ///
    /// - Throws: ``CommandFailure`` that names the nearest ones where there is none, and those meant where there are
    ///   several.
    func find(in store: Accounts, evenDamaged: Bool = false) async throws -> ReplicaRow {
        let found = try await Self.rows(beginningWith: digits, in: store)
        if found.count == 1 { return evenDamaged ? found[0] : try found[0].readable() }
        if found.isEmpty {
            let near = try await nearest(in: store)
            throw CommandFailure(
                .noInput,
                "There is no replica \(digits) in the state. "
                    + (near.isEmpty ? "'rind replicas list' shows all." : "The nearest: \(Self.list(near))."))
        }
        throw CommandFailure(
            .usage, "\(digits) is the beginning of several replicas: \(Self.list(found)). Name more digits.")
    }

    /// Finds the replicas that share the longest prefix with an unknown name, if that is more than chance.
    private func nearest(in store: Accounts) async throws -> [ReplicaRow] {
        for count in stride(from: digits.utf8.count - 1, to: 1, by: -1) {
            let rows = try await Self.rows(beginningWith: String(digits.prefix(count)), in: store)
            if !rows.isEmpty { return rows }
        }
        return []
    }

    private static let shown = 5

    private static func list(_ rows: [ReplicaRow]) -> String {
        rows.prefix(shown).map(\.id.description).joined(separator: ", ") + (rows.count > shown ? ", …" : "")
    }

    /// Finds the first replicas whose digits begin so, which are a range of numbers.
    private static func rows(beginningWith digits: String, in store: Accounts) async throws -> [ReplicaRow] {
        let free = UInt64(16 - digits.utf8.count) * 4
        guard let number = UInt64(digits, radix: 16), let first = Int64(exactly: number << free) else { return [] }
        let last = first | Int64((UInt64(1) << free) - 1)
        let rows = try await store.inspection.replicas(
            of: nil, after: ReplicaID(rawValue: max(0, first - 1)), limit: shown + 1)
        return rows.filter { $0.id.rawValue <= last }
    }
}

extension ReplicaRow {
    /// Returns the row, unless it says nothing.
    func readable() throws -> ReplicaRow {
        guard isDamaged else { return self }
        throw StateError.corrupt(
            "what it knows of replica \(id) cannot be read; 'rind replicas forget \(id)' deletes what is left")
    }
}
