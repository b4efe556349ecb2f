// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import SyncModel

/// The members of a table's rows that nothing of the configuration reads: one of them may be what a column looks for.
struct UnmappedMembers {
    /// The most names that are kept.
    private static let most = 5

    /// The names, in the order in which they came.
    private(set) var names: [String] = []
    private let known: Set<String>

    /// Creates the members of a table, before any row.
    init(_ table: Table) {
        var paths = table.ids.flatMap(\.paths)
        for column in table.columns {
            for case .path(let path, _) in column.sources { paths.append(path) }
        }
        known = Set(paths.compactMap { if case .name(let name)? = $0.steps.first { name } else { nil } })
    }

    /// Notes the members of a row.
    mutating func note(_ row: JSONSlice) {
        guard names.count < Self.most else { return }
        row.forEachMember { name, _ in
            guard names.count < Self.most, let name = name.string?.shown(upTo: 40), !known.contains(name),
                !names.contains(name)
            else { return }
            names.append(name)
        }
    }
}
