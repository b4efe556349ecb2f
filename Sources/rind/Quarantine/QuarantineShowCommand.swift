// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import ArgumentParser
import JSONBytes
import SQLiteState
import StateStore
import SyncModel

/// `rind quarantine show`.
struct QuarantineShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Shows one entry, with the record or the line as far as it is kept.",
        discussion: """
            EXAMPLES
              rind quarantine show push-12 --config rind.ini
              rind quarantine show push-12 --config rind.ini --json | jq -r .content | jq .

            Of a pushed record all is kept, as the app sent it; of a line what '[pull]
            quarantine_keep' says. Both are a user's data.
            """)

    @Argument(help: ArgumentHelp("The entry, such as push-12 or line-7.", valueName: "id"))
    var id: String

    @OptionGroup var state: StateArguments

    func validate() throws { _ = try QuarantineName(validating: id) }

    func run() async throws {
        let name = try QuarantineName(validating: id)
        try await state.run(for: .reading) { store, _ in
            let item: QuarantineItem? =
                switch name.kind {
                case .push: try await store.inspection.quarantinedPush(name.number).map { .push($0) }
                case .line: try await store.inspection.quarantinedLine(name.number).map { .line($0) }
                }
            guard let item else { throw QuarantineName.missing([name]) }
            return QuarantineReport(item: item)
        }
    }
}

/// The output of 'show'.
private struct QuarantineReport: StateReport {
    let item: QuarantineItem

    private static func line(_ name: String, _ value: String) -> String { name.padded(to: 12) + value }

    var lines: [String] {
        let head = [Self.line("entry", item.name.description)] + item.principal.lines
        let rest =
            switch item {
            case .push(let entry): lines(entry)
            case .line(let entry): lines(entry)
            }
        let text = String(decoding: item.content, as: UTF8.self)
        return head + rest + ["", text.isEmpty ? "nothing of it is kept" : text.shown(upTo: 1 << 20)]
    }

    private func lines(_ entry: QuarantinedPush) -> [String] {
        let lines = [
            Self.line("table", entry.push.key.table.shown(upTo: 255)),
            Self.line("record", entry.push.key.id.shown(upTo: 255)),
            Self.line("reason", QuarantineItem.text(entry.push.reason).shown(upTo: 1_024)),
        ]
        guard !entry.isDamaged else { return lines }
        return lines + [
            Self.line("change", entry.push.kind.rawValue),
            Self.line("refused", Self.times(entry.count, first: entry.firstAt, last: entry.lastAt)),
            Self.line(
                "retry",
                entry.markedAt.map { "marked at \(MomentText.seconds($0)), waits for the principal's next sync" }
                    ?? "'rind quarantine retry \(item.name)' has it tried with the principal's next sync"),
        ]
    }

    private func lines(_ entry: QuarantineEntry) -> [String] {
        let line = entry.line
        let facts = [
            ("table", line.table), ("record", line.id), ("type", line.type), ("namespace", line.namespace),
        ]
        return facts.compactMap { name, value in value.map { Self.line(name, $0.shown(upTo: 1_024)) } } + [
            Self.line("reason", line.reason.rawValue),
            Self.line("came", Self.times(entry.count, first: entry.firstSeen, last: entry.lastSeen)),
        ]
    }

    private static func times(_ count: Int, first: Instant, last: Instant) -> String {
        guard count > 1 else { return "once, at \(MomentText.seconds(last))" }
        return "\(count) times, first at \(MomentText.seconds(first)), last at \(MomentText.seconds(last))"
    }

    var json: JSONValue {
        .object(
            item.members + [
                .init("content", .string(String(decoding: item.content, as: UTF8.self))),
                .init("content_bytes", .integer(item.content.count)),
            ])
    }
}
