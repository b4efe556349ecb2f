// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import ArgumentParser
import Gateway
import GatewayConfig
import JSONBytes
import SQLiteState
import StateStore
import SyncModel

/// `rind quarantine retry`.
struct QuarantineRetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Schedules another try of quarantined entries.",
        discussion: """
            EXAMPLES
              rind quarantine retry push-12 push-13 --config rind.ini
              rind quarantine retry --all --config rind.ini
              rind quarantine retry --all --principal 5f0c1a7e90b2 --config rind.ini

            A pushed record is marked, and sent to the backend with the next pull or push
            of its principal, whichever device it comes from: Rind stores no credentials,
            so it cannot do it by itself. What the backend takes then leaves the
            quarantine; what it refuses stays, with a greater COUNT and without the mark.
            No conflict check is made: what others have changed in the record since is
            overwritten.

            A line of a stream is not sent anywhere; the replicas of the principal for whom
            it came last have everything compared with their next pull, as by 'rind
            replicas resync'. It stays in the list until you drop it. After a change of the
            mapping that is not needed: it is compared anew anyway.
            """)

    @OptionGroup var entries: QuarantineArguments

    @Flag(help: "All pushed records; of lines, name those that you mean.")
    var all = false

    @OptionGroup var owner: PrincipalArgument

    @OptionGroup var state: StateArguments

    func validate() throws {
        guard all != !entries.ids.isEmpty else { throw ValidationError("Name entries, or '--all'.") }
        guard owner.isEmpty || all else { throw ValidationError("'--principal' and '--user' go with '--all'.") }
    }

    func run() async throws {
        let names = try entries.names
        try await state.run(for: .changing) { store, configuration in
            guard !all else {
                let owner = try await owner.find(in: store, configuration)
                let found = try await store.commands.scheduleRetries(nil, of: owner, at: SystemClock().now)
                return QuarantineChange(change: "marked", names: found.map { QuarantineName(.push, $0) })
            }
            try await store.requireAll(names)
            let replicas = try await compare(names.numbers(.line), in: store, configuration: configuration)
            _ = try await store.commands.scheduleRetries(names.numbers(.push), of: nil, at: SystemClock().now)
            return QuarantineChange(change: "marked", names: names, replicas: replicas)
        }
    }

    /// Schedules full comparisons for the replicas to which the lines should have gone; returns the number of replicas.
    private func compare(
        _ lines: [Int64], in store: CommandState, configuration: GatewayConfig.Configuration
    ) async throws -> Int {
        guard !lines.isEmpty else { return 0 }
        guard configuration.ledger.mode == .full else {
            throw CommandFailure(
                .usage,
                "Without a ledger nothing can be compared, so a line comes when its record changes; nothing was changed."
            )
        }
        var principals: Set<Principal> = []
        for line in lines {
            guard let entry = try await store.inspection.quarantinedLine(line) else { continue }
            guard !entry.principal.rawValue.isEmpty else {
                throw StateError.corrupt("line-\(line) cannot be read; 'rind quarantine drop line-\(line)' deletes it")
            }
            principals.insert(entry.principal)
        }
        var count = 0
        for principal in principals {
            let replicas = try await store.inspection.replicas(of: principal, after: nil, limit: 10_000)
            for replica in replicas where !replica.isDamaged {
                try await store.change(replica.principal) {
                    try ReplicaRules.resync(replica.id, at: SystemClock().now, in: &$0)
                }
                count += 1
            }
        }
        return count
    }
}

/// `rind quarantine drop`.
struct QuarantineDropCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop", abstract: "Drops quarantined entries for good.",
        discussion: """
            EXAMPLE
              rind quarantine drop push-12 line-7 --config rind.ini

            Of a pushed record this may be the only copy but for the one on its device.
            That one stays as it is: the device takes it for synced and keeps it until the
            record changes in the backend. To have an edit undone that the backend refused,
            run 'rind replicas resync' for the device afterwards; a record that never was
            in the backend stays on it until its user deletes it.

            A line that comes again is quarantined again.
            """)

    @OptionGroup var entries: QuarantineArguments
    @OptionGroup var state: StateArguments

    func validate() throws {
        guard !entries.ids.isEmpty else { throw ValidationError("Name the entries that are to be dropped.") }
    }

    func run() async throws {
        let names = try entries.names
        try await state.run(for: .changing) { store, _ in
            try await store.requireAll(names)
            // Another command may have been faster, or the backend: then they are gone, too.
            _ = try await store.commands.dropPushes(names.numbers(.push))
            _ = try await store.commands.dropLines(names.numbers(.line))
            return QuarantineChange(change: "dropped", names: names)
        }
    }
}

extension Accounts {
    /// Fails where one of the entries is not there, so that a slip of the pen changes nothing.
    fileprivate func requireAll(_ names: [QuarantineName]) async throws {
        var missing: [QuarantineName] = []
        for name in names {
            switch name.kind {
            case .push: if try await !inspection.hasQuarantinedPush(name.number) { missing.append(name) }
            case .line: if try await inspection.quarantinedLine(name.number) == nil { missing.append(name) }
            }
        }
        guard missing.isEmpty else { throw QuarantineName.missing(missing) }
    }
}

/// The changes by 'retry' or 'drop'.
private struct QuarantineChange: StateReport {
    /// The stable word for it.
    let change: String
    let names: [QuarantineName]
    /// The number of replicas that get a full comparison because of lines.
    var replicas = 0

    var lines: [String] {
        guard !names.isEmpty else { return ["no pushed record is in quarantine; nothing was changed"] }
        guard change == "marked" else { return ["\(Self.list(names)) dropped."] }
        let (pushes, lines) = (names.filter { $0.kind == .push }, names.filter { $0.kind == .line })
        var sentences: [String] = []
        if !pushes.isEmpty {
            sentences.append("\(Self.list(pushes)) marked: tried with the next sync of the principal.")
        }
        if !lines.isEmpty {
            sentences.append(
                "\(Self.list(lines)): \(replicas) replicas have everything compared with their next pull.")
        }
        return sentences
    }

    private static func list(_ names: [QuarantineName]) -> String {
        names.count > 10
            ? "\(names.count) entries" : names.map(\.description).joined(separator: ", ")
    }

    var json: JSONValue {
        .object([
            "change": .string(change), "entries": .array(names.map { .string($0.description) }),
            "replicas": .integer(replicas),
        ])
    }
}
