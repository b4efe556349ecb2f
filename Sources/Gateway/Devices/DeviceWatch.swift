// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Accounts
import GatewayConfig
import Logging
import StateStore
import SyncMachines
import SyncModel

/// Records which devices do not get on, and logs each that becomes stuck.
///
/// A failure to record is ignored: a sync ends as it ends.
struct DeviceWatch: Sendable {
    let store: Accounts
    let principal: Principal
    let rule: StuckRule
    let logger: Logger

    /// Notes that a sync of a replica has failed, unless the reason is the caller's credential or a lost connection.
    func failed(_ kind: DeviceTrouble.Kind, of replica: ReplicaID, because error: any Error, at now: Instant) async {
        let failure = GatewayError(error)
        guard !(error is CancellationError), ![401, 403, 499].contains(failure.status) else { return }
        await note(kind, code: failure.code, of: replica, at: now)
    }

    /// Notes that a pull with a cursor was answered.
    ///
    /// - Parameters:
    ///   - replica: The replica.
    ///   - known: What the state had recorded of it.
    ///   - isRepeat: True if the replica had got an answer to this cursor before, and has got another one now.
    ///   - now: The time.
    func pulled(_ replica: ReplicaID, known: Set<DeviceTrouble.Kind>, isRepeat: Bool, at now: Instant) async {
        var ended = known.intersection([.pull, .firstSync])
        if isRepeat {
            await note(.sameCursor, code: "", of: replica, at: now)
        } else {
            ended.formUnion(known.intersection([.sameCursor]))
        }
        await end(ended, of: replica)
    }

    /// Notes that a principal has got an answer without a cursor, and how many there were in a row.
    func began(_ replica: ReplicaID, _ row: FirstSyncs.Row, at now: Instant) async {
        guard row.times >= Self.suspicious else { return }
        // Each first sync makes a replica of its own, and the newest one stands for all.
        let noted = await note(.firstSync, count: row.times, since: row.since, of: replica, at: now)
        guard let after = noted?.after, rule.isMet(by: after), row.isNews,
            row.times == max(Self.suspicious, rule.repeats)
        else { return }
        log(after)
    }

    /// Deletes what is recorded of a replica that gets on.
    func end(_ kinds: Set<DeviceTrouble.Kind>, of replica: ReplicaID) async {
        guard !kinds.isEmpty else { return }
        let ended = (try? await store.change(principal) { try TroubleRules.end(kinds, of: replica, in: &$0) }) ?? []
        for trouble in ended where rule.isMet(by: trouble) {
            logger.notice(
                "a device is not stuck any more",
                metadata: ["replica": "\(replica)", "reason": "\(trouble.kind.rawValue)"])
        }
    }

    /// The number of first syncs from which on they are recorded: two are usual on a bad network.
    private static let suspicious = 3

    private func note(
        _ kind: DeviceTrouble.Kind, code: String, of replica: ReplicaID, at now: Instant
    ) async {
        guard let (before, after) = await note(kind, code: code, count: 1, since: now, of: replica, at: now),
            rule.isMet(by: after), before.map({ !rule.isMet(by: $0) }) ?? true
        else { return }
        log(after)
    }

    private func note(
        _ kind: DeviceTrouble.Kind, code: String = "", count: Int, since: Instant, of replica: ReplicaID,
        at now: Instant
    ) async -> (before: DeviceTrouble?, after: DeviceTrouble)? {
        let trouble = DeviceTrouble(
            replica: replica, principal: principal, kind: kind, count: count, since: since, lastAt: now, code: code)
        return try? await store.change(principal) { try TroubleRules.note(trouble, in: &$0) }
    }

    private func log(_ trouble: DeviceTrouble) {
        var metadata: Logger.Metadata = [
            "code": "device.stuck", "replica": "\(trouble.replica)", "principal": "\(trouble.principal)",
            "reason": "\(trouble.kind.rawValue)", "times": "\(trouble.count)", "last_code": "\(trouble.code)",
            "minutes": "\(max(0, trouble.lastAt.milliseconds(since: trouble.since)) / 60_000)",
            "advice": "\(trouble.kind.advice)",
        ]
        if let scope = trouble.principal.scope { metadata["scope"] = "\(ForeignText.cut(scope))" }
        logger.warning("a device is stuck", metadata: metadata)
    }
}

extension DeviceTrouble.Kind {
    /// Advice for the operator, in one line.
    package var advice: String {
        switch self {
        case .sameCursor:
            "its answers do not arrive, or the app fails while it stores them: look for 'cut' in the log, and at the app"
        case .firstSync:
            "its first sync does not arrive, or the app fails while it stores it: look for 'cut' in the log, and at the app"
        case .pull: "look the code up in docs/ERRORS.md, and the lines of the replica in the log"
        case .push: "'rind replicas show' names what was refused; docs/ERRORS.md has the code"
        }
    }
}
