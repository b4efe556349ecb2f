// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import StateStore
import SyncModel

/// A quarantined record or line, as the commands show it.
enum QuarantineItem {
    case push(QuarantinedPush)
    case line(QuarantineEntry)

    var name: QuarantineName {
        switch self {
        case .push(let entry): QuarantineName(.push, entry.id)
        case .line(let entry): QuarantineName(.line, entry.id)
        }
    }

    var principal: Principal {
        switch self {
        case .push(let entry): entry.principal
        case .line(let entry): entry.principal
        }
    }

    /// The cells of a row of 'list', from the principal on.
    var cells: [String] {
        switch self {
        case .push(let entry):
            [
                principal.description, principal.shownScope, entry.push.key.table.shown(upTo: 40),
                entry.push.key.id.shown(upTo: 40),
                entry.isDamaged ? "-" : entry.push.kind.rawValue, Self.text(entry.push.reason).shown(upTo: 60),
                entry.isDamaged ? "-" : String(entry.count), Self.text(entry.firstAt), Self.text(entry.lastAt),
                entry.markedAt == nil ? "" : "waits for the next sync",
            ]
        case .line(let entry):
            [
                principal.description, principal.shownScope, entry.line.table?.shown(upTo: 40) ?? "-",
                entry.line.id?.shown(upTo: 40) ?? "-",
                (entry.line.type ?? entry.line.namespace)?.shown(upTo: 40) ?? "-", entry.line.reason.rawValue,
                String(entry.count), Self.text(entry.firstSeen), Self.text(entry.lastSeen), "",
            ]
        }
    }

    /// The stored record or line.
    var content: [UInt8] {
        switch self {
        case .push(let entry): entry.push.body
        case .line(let entry): entry.line.bytes
        }
    }

    /// Returns a moment; that of an entry that cannot be read is unknown.
    private static func text(_ moment: Instant) -> String { moment > 0 ? MomentText.seconds(moment) : "-" }

    /// Returns a code with the known details of the reason.
    static func text(_ reason: QuarantinedOperation.Reason) -> String {
        // Of a call the message is its status.
        reason.code + (reason.message.map { ": \($0)" } ?? reason.status.map { ": status \($0)" } ?? "")
    }

    /// The members of both 'list' and 'show', the same for each kind.
    var members: [JSONValue.Member] {
        let (push, line): (QuarantinedPush?, QuarantineEntry?) =
            switch self {
            case .push(let entry): (entry, nil)
            case .line(let entry): (nil, entry)
            }
        let reason = push?.push.reason
        func known(_ moment: Instant?) -> Instant? { moment.flatMap { $0 > 0 ? $0 : nil } }
        let own: [JSONValue.Member] = [
            .init("id", .string(name.description)), .init("kind", .string(name.kind.rawValue)),
        ]
        var rest: [JSONValue.Member] = [
            .init("table", .string(push?.push.key.table ?? line?.line.table)),
            .init("record", .string(push?.push.key.id ?? line?.line.id)),
            .init("change", .string(push?.push.kind.rawValue)), .init("type", .string(line?.line.type)),
            .init("namespace", .string(line?.line.namespace)),
            .init("reason", .string(reason?.code ?? line?.line.reason.rawValue)),
            .init("status", .integer(reason?.status.map(Int64.init))), .init("message", .string(reason?.message)),
            .init("count", .integer(push?.count ?? line?.count ?? 0)),
            .init("first_seen", .moment(known(push?.firstAt ?? line?.firstSeen))),
            .init("last_seen", .moment(known(push?.lastAt ?? line?.lastSeen))),
            .init("marked_at", .moment(push?.markedAt)),
        ]
        if push?.isDamaged == true { rest = rest.unknown(but: ["table", "record", "reason"]) }
        let unknown = principal.members.map { JSONValue.Member($0.name, .null) }
        return own + (principal.rawValue.isEmpty ? unknown : principal.members) + rest
    }
}
