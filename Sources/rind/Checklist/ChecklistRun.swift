// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import Gateway
import GatewayConfig
import SyncModel

/// Tries the points of the backend's checklist that one session of a test account can show.
///
/// It moves the session's checkpoints as a device would, so no device may use the session.
struct ChecklistRun {
    let configuration: Configuration
    let client: BackendClient
    let credentials: ForwardedCredentials
    var results = ChecklistResults()
    /// The call that was made last: the one that an error is about.
    private(set) var made = ChecklistCall.stream
    /// The position of the session, in style `request` only; in style `server` the backend keeps it.
    private var vector = CheckpointVector()

    /// Creates a run with a credential; no call is made.
    init(_ configuration: Configuration, client: BackendClient, _ credentials: ForwardedCredentials) {
        self.configuration = configuration
        self.client = client
        self.credentials = credentials
    }

    private var types: [String] { configuration.schema.requestTypes(at: configuration.schema.version) }

    /// Tries the points one after the other; with `writes` those of pushes, too.
    ///
    /// - Returns: A finding for each point, and one for the call that ended the run early, if one did.
    mutating func run(writes: Bool) async -> [CheckFinding] {
        if client.settings.checkpoints == .server, client.settings.forget == nil {
            results.leave(
                ChecklistPoint.allCases.filter { $0.beyondReach == nil }, because: "needs the call [backend] forget")
            return results.findings
        }
        var further: [CheckFinding] = []
        do throws(BackendError) {
            let everything = try await tryReading()
            if let everything, writes { further += try await tryWriting(after: everything) }
        } catch {
            further.append(made.failed(error, at: client.settings))
        }
        if !writes { results.leave(ChecklistPoint.allCases.filter(\.needsPush), because: "needs --write") }
        return results.findings + further
    }

    /// Notes which call is made next.
    mutating func make(_ call: ChecklistCall) { made = call }

    /// Reads the stream, or its first lines, from where the session is.
    mutating func stream(upTo count: Int = .max) async throws(BackendError) -> ChecklistStream {
        make(.stream)
        return try await ChecklistStream(
            try await client.openStream(types: types, vector: vector, credentials), configuration, upTo: count)
    }

    /// Confirms lines, or sets their namespaces back to them.
    mutating func confirm(_ lines: [ChecklistStream.Line]) async throws(BackendError) {
        var newest = CheckpointVector()
        for line in lines { newest.advance(to: line.checkpoint) }
        make(.acknowledgement)
        if client.settings.checkpoints == .server {
            for batch in client.ackBatches(of: newest.namespaces.compactMap { newest[$0] }) {
                try await client.acknowledge(batch, credentials)
            }
        } else {
            for namespace in newest.namespaces { vector[namespace] = newest[namespace] }
        }
    }

    private mutating func forget(_ namespace: String) async throws(BackendError) {
        make(.forget)
        if client.settings.checkpoints == .server {
            try await client.forget(namespaces: [namespace], credentials)
        } else {
            vector[namespace] = nil
        }
    }

    private mutating func forgetAll() async throws(BackendError) {
        make(.forget)
        if client.settings.checkpoints == .server { try await client.forgetAll(credentials) }
        vector = CheckpointVector()
    }

    /// Tries the points that need no push.
    ///
    /// - Returns: The whole stream; nil if it cannot be read, so that nothing else can be tried.
    private mutating func tryReading() async throws(BackendError) -> ChecklistStream? {
        try await forgetAll()
        let everything = try await stream()
        if let fault = everything.fault {
            results.expect(false, .confirmed, or: "before that, \(fault)")
            return nil
        }
        let count = everything.lines.count
        if count > 1 {
            results.leave([.emptyAccount], because: "the account has \(count - 1) lines")
        } else {
            results.expect(everything.completeToken != nil, .emptyAccount, or: everything.summary)
        }
        try await tryConfirming(everything)
        try await tryUnknownType()
        if everything.records.count > 1 {
            try await trySettingBack(everything)
            try await tryCutting(everything)
        } else {
            results.leave([.setBack, .cut], because: "the account has less than two records")
        }
        try await confirm(everything.lines)
        return everything
    }

    private mutating func tryConfirming(_ everything: ChecklistStream) async throws(BackendError) {
        try await confirm(everything.lines)
        let again = try await stream()
        results.expect(
            again.fault == nil && again.lines.count == 1, .confirmed, or: again.fault ?? "\(again.summary) came")
        try await confirm(again.lines)
    }

    private mutating func tryUnknownType() async throws(BackendError) {
        make(.stream)
        let answer = try await client.probeStream(types: types + ["RindChecklistV1"], credentials)
        results.expect(answer.status == 400, .unknownType, or: "status \(answer.status) to the type RindChecklistV1")
    }

    private mutating func trySettingBack(_ everything: ChecklistStream) async throws(BackendError) {
        // A backfill, which a line without data ends, goes back to another line than its own.
        let backfills = Set(everything.lines.filter { $0.table == nil }.map(\.checkpoint.namespace))
        let lines = everything.records.filter { !backfills.contains($0.checkpoint.namespace) }
        let groups = Dictionary(grouping: lines, by: \.checkpoint.namespace)
            .filter { Set($0.value.map(\.checkpoint.token)).count > 1 }
        guard let (namespace, own) = groups.min(by: { $0.key < $1.key }), let first = own.first else {
            return results.leave([.setBack], because: "no type has two records")
        }
        try await confirm([first])
        let later = try await stream()
        let missing = Set(own.dropFirst().map(\.content)).subtracting(later.records.map(\.content))
        results.expect(
            missing.isEmpty, .setBack,
            or: "\(namespace) was set back to its first line, and \(missing.count) of \(own.count - 1) did not come")
        results.expect(
            !later.lines.contains { $0.checkpoint == first.checkpoint }, .setBack,
            or: "\(namespace) was set back to its first line, which came again")
        try await forget(namespace)
        let all = try await stream()
        let lost = Set(own.map(\.content)).subtracting(all.records.map(\.content))
        results.expect(
            lost.isEmpty, .setBack,
            or: "\(namespace) was forgotten, and \(lost.count) of \(own.count) lines did not come")
        try await confirm(everything.lines)
    }

    private mutating func tryCutting(_ everything: ChecklistStream) async throws(BackendError) {
        try await forgetAll()
        // Whether its end is still on the way when the rest of a stream is dropped depends on the network.
        results.leavePart(of: .cut, because: "half of a stream was dropped, and no line broken off")
        let beginning = try await stream(upTo: everything.lines.count / 2).lines
        try await confirm(beginning)
        let rest = try await stream()
        let confirmed = Set(beginning.map(\.checkpoint))
        let repeated = rest.records.filter { confirmed.contains($0.checkpoint) }
        results.expect(
            repeated.isEmpty, .cut, or: "\(repeated.count) lines that were confirmed came again after a cut")
        let missing = Set(everything.records.map(\.content))
            .subtracting((beginning + rest.lines).map(\.content))
        results.expect(
            missing.isEmpty && rest.fault == nil, .cut,
            or: rest.fault ?? "\(missing.count) lines that were not confirmed did not come after a cut")
        try await confirm(rest.lines)
    }
}
