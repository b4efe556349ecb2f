// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import StateStore

/// An entry as an operator names it: `push-12` or `line-7`.
struct QuarantineName: Hashable, CustomStringConvertible {
    /// The kind of a quarantined entry.
    enum Kind: String, CaseIterable {
        case push, line
    }

    let kind: Kind
    let number: Int64

    init(_ kind: Kind, _ number: Int64) {
        self.kind = kind
        self.number = number
    }

    /// Reads a name that stands in the command line.
    init(validating text: String) throws {
        let parts = text.lowercased().split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let kind = Kind(rawValue: String(parts[0])), let number = Int64(parts[1]), number > 0,
            parts[1].utf8.allSatisfy({ (48...57).contains($0) })
        else {
            throw ValidationError(
                "'\(text.shown(upTo: 40))' is no entry: they are called 'push-12' or 'line-7', as 'list' shows them.")
        }
        self.init(kind, number)
    }

    var description: String { "\(kind.rawValue)-\(number)" }

    /// Returns the message about entries that do not exist.
    static func missing(_ names: [QuarantineName]) -> CommandFailure {
        let list = names.prefix(5).map(\.description).joined(separator: ", ") + (names.count > 5 ? ", …" : "")
        return CommandFailure(
            .noInput,
            "There is no \(list) in the quarantine; nothing was changed. 'rind quarantine list' shows all.")
    }
}

/// The arguments that name several entries.
struct QuarantineArguments: ParsableArguments {
    @Argument(help: ArgumentHelp("Entries, such as push-12 or line-7.", valueName: "id"))
    var ids: [String] = []

    /// The names, each once, in their order.
    var names: [QuarantineName] {
        get throws {
            var seen: Set<QuarantineName> = []
            return try ids.map(QuarantineName.init(validating:)).filter { seen.insert($0).inserted }
        }
    }

    func validate() throws {
        guard ids.count <= 1_000 else { throw ValidationError("At most 1000 entries at a time.") }
        _ = try names
    }
}

extension [QuarantineName] {
    /// Returns the numbers of the entries of one kind.
    func numbers(_ kind: QuarantineName.Kind) -> [Int64] { filter { $0.kind == kind }.map(\.number) }
}
