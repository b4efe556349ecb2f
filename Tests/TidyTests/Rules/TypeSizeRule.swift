// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A type with all its extensions stays small enough to be known: files of their own do not make it smaller.
///
/// Extensions of types of other packages count for nobody.
enum TypeSizeRule {
    /// The size of a type.
    struct Size: Hashable {
        var lines: Int
        var files: Int
    }

    static let maximum = Size(lines: 400, files: 4)

    /// Types that are longer for a reason that `docs/decisions/0006-types-that-stay-long.md` gives; they may shrink,
    /// and then their size is lowered here.
    static let exceptions: [String: Size] = [
        "Accounts.Accounts": Size(lines: 440, files: 4),
        "Backend.BackendClient": Size(lines: 610, files: 7),
        "Backend.BackendError": Size(lines: 205, files: 6),
        "Gateway.DeviceState": Size(lines: 430, files: 4),
        "Gateway.PullRunner": Size(lines: 430, files: 4),
        "Gateway.PushRunner": Size(lines: 560, files: 4),
        "GatewayConfig.Configuration": Size(lines: 727, files: 10),
        "GatewayConfig.KeyTable": Size(lines: 1_463, files: 14),
        "GatewayConfig.Loader": Size(lines: 1_100, files: 7),
        "GatewayConfig.ValueFormat": Size(lines: 670, files: 5),
        "Ledger.LedgerDiff": Size(lines: 575, files: 3),
        "LineProjection.LineProjector": Size(lines: 750, files: 6),
        "SyncMachines.PullMachine": Size(lines: 420, files: 2),
        "SyncMachines.PushMachine": Size(lines: 550, files: 4),
    ]

    static func violations(in files: [SourceFile], exceptions: [String: Size] = Self.exceptions) -> [Violation] {
        sizes(in: files).compactMap { type in
            let limit = exceptions[type.name] ?? maximum
            guard type.size.lines > limit.lines || type.size.files > limit.files else { return nil }
            let message =
                "'\(type.name)' has \(type.size.lines) lines in \(type.size.files) files, more than \(limit.lines) in "
                + "\(limit.files): which types are in it?"
            return Violation(file: type.file, line: type.line, message: message)
        }
    }

    /// Types with all their extensions, the longest first.
    static func sizes(in files: [SourceFile]) -> [(name: String, size: Size, file: SourceFile, line: Int)] {
        var lines: [String: Int] = [:]
        var places: [String: Set<String>] = [:]
        var declarations: [String: (file: SourceFile, line: Int)] = [:]
        for file in files {
            for type in TypeDeclaration.all(in: file.swift) {
                let name = "\(file.target).\(type.name)"
                lines[name, default: 0] += type.length
                places[name, default: []].insert(file.path)
                if type.kind != "extension" { declarations[name] = (file, type.line) }
            }
        }
        return declarations.map { name, place in
            (name, Size(lines: lines[name] ?? 0, files: places[name]?.count ?? 0), place.file, place.line)
        }
        .sorted { $0.size.lines > $1.size.lines }
    }
}
