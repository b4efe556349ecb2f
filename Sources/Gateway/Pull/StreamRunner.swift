// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import Deduplication
import LineProjection
import Logging
import NIOCore
import StateStore
import SyncMachines
import SyncModel

/// Carries out the decisions of a stream machine: brings the backend to a vector, and streams into a spool.
struct StreamRunner {
    let scope: PullScope
    var acceptance: Acceptance
    var spooler: StreamSpooler
    /// The search for creations that reads the lines as well, during a push recovery.
    var creations: CreationSearch?
    /// The cached answer of an earlier pull with the same cursor; nil for a check.
    let cached: CachedAnswers.Entry?
    /// The part of the counts that comes from the cached answer.
    private(set) var taken = StreamIntake.Counts()
    /// The number of times that the stream broke.
    private(set) var breaks = 0
    /// True if the last stream broke without having brought a line.
    private var avoidsCompression = false
    /// The columns that the client has only just got, by table.
    private var added: [String: Set<String>] = [:]
    private var aliases: IDAliases?
    /// The time of the session's last acceptance that the state has; nil if unknown.
    private var lastAccepted: Instant?
    /// The request types that the backend refuses.
    private(set) var refusedTypes: Set<String> = []
    /// Those of the last line of the log about them.
    private var loggedRefused: Set<String> = []

    init(_ scope: PullScope, cached: CachedAnswers.Entry? = nil) {
        self.scope = scope
        self.cached = cached
        acceptance = Acceptance(scope.identity, scope.services)
        spooler = scope.services.makeSpooler(scope.projection, for: scope.query.principal)
    }

    /// Takes the vector, the moments and the ids of the device before anything is streamed.
    mutating func takeOver(_ device: DeviceState) {
        acceptance.vector = device.row?.vector
        acceptance.lastSeen = device.lastSeen
        lastAccepted = device.lastAccepted
        guard let aliases = device.aliases else { return }
        self.aliases = aliases
        spooler = scope.services.makeSpooler(scope.projection, for: scope.query.principal, aliases: aliases)
    }

    /// Applies what is known about the client's schema and the backend's types before anything is streamed.
    mutating func begin(added: [String: Set<String>], without refused: Set<String>) {
        self.added = added
        refusedTypes = refused
    }

    /// Performs an action.
    ///
    /// A refusal by the backend during the comparison of a whole type is thrown, and the comparison fails.
    mutating func perform(_ action: StreamAction, isComparing: Bool) async throws -> StreamEvent {
        switch action {
        case .storePosition(let position):
            try await acceptance.obtain()
            try await scope.store.setPosition(
                position, principal: scope.query.principal, session: scope.query.session, at: scope.now)
        case .listCheckpoints:
            let held = try await scope.backend.list(scope.identity.forwarded)
            try await acceptance.accepted()
            return .listed(held)
        case .forget(let namespaces): return try await forget(namespaces)
        case .forgetAll:
            try await noteMove()
            try await scope.backend.forgetAll(scope.identity.forwarded)
            try await acceptance.accepted()
        case .acknowledge(let tokens): return try await acknowledge(tokens)
        case .raiseGeneration:
            let generation = try await scope.store.raiseGeneration(
                principal: scope.query.principal, session: scope.query.session, at: scope.now)
            scope.logger.notice("the backend demands a reset", metadata: ["generation": "\(generation)"])
            return .generationRaised(generation)
        case .acknowledgeReset(let token): try await scope.backend.acknowledge([token], scope.identity.forwarded)
        case .takeCached: try await takeCached()
        case .open(let types, let vector, let afresh):
            return try await open(types, from: vector, afresh: afresh, isComparing: isComparing)
        case .sleep(let milliseconds): try await scope.services.clock.sleep(milliseconds: milliseconds)
        }
        return .done
    }

    /// Records that the backend has accepted the session's credential, unless the state has it of a moment ago.
    private mutating func markAccepted() async throws {
        let now = scope.now
        // The store would find the same; asking it costs a read.
        if let last = lastAccepted, !scope.store.limits.isAcceptanceDue(now, after: last) { return }
        try await scope.store.markAccepted(
            principal: scope.query.principal, session: scope.query.session, at: now)
        lastAccepted = now
    }

    /// Marks the positions of the principal's sessions as unknown, since they may be the same session at the backend;
    /// writes nothing if they are marked already.
    private mutating func noteMove() async throws {
        try await acceptance.obtain()
        try await scope.store.setPosition(
            .unknown, principal: scope.query.principal, session: scope.query.session, at: scope.now)
    }

    private mutating func acknowledge(_ tokens: [String]) async throws -> StreamEvent {
        try await noteMove()
        let (query, refusals) = (scope.query, scope.services.ackRefusals)
        let session = "\(query.principal.rawValue):\(query.session.rawValue)"
        do {
            try await scope.backend.acknowledge(tokens, scope.identity.forwarded)
            refusals.forget(session)
            try await acceptance.accepted()
            return .done
        } catch BackendError.ackRefused(status: 404)
            where !refusals.note(session, presented: query.presented, at: scope.now + scope.store.cursorLead)
        {
            logRefusedTokens(status: 404)
            return .tokensRefused
        } catch BackendError.refused(let status) {
            logRefusedTokens(status: status)
            return .tokensRefused
        }
    }

    private mutating func forget(_ namespaces: [String]) async throws -> StreamEvent {
        try await noteMove()
        do {
            try await scope.backend.forget(namespaces: namespaces, scope.identity.forwarded)
            try await acceptance.accepted()
            return .done
        } catch BackendError.refused(let status) {
            scope.logger.notice(
                "the backend does not take the names of checkpoints that it holds: all are forgotten and set anew",
                metadata: ["status": "\(status)", "namespaces": "\(namespaces.prefix(20).joined(separator: " "))"])
            return .namespacesRefused
        }
    }

    /// Goes on from the lines of an earlier pull: its answer may have got lost, and the lines need not be streamed
    /// again.
    private mutating func takeCached() async throws {
        guard let cached else { throw PullFailure.unexpectedEvent }
        try await scope.services.identities.verifyName(scope.identity, at: scope.now)
        spooler = cached.spooler
        try await spooler.takeUp(at: cached.length)
        taken = spooler.counts
    }

    /// Streams into the spool, up to a complete line or an interruption.
    private mutating func open(
        _ types: [String], from vector: CheckpointVector, afresh: Bool, isComparing: Bool
    ) async throws -> StreamEvent {
        do {
            return .ended(try await stream(types, from: vector, afresh: afresh))
        } catch BackendError.typesRefused(let named) where !isComparing {
            return .typesRefused(named: named)
        } catch BackendError.refused(status: 400) where !isComparing && types.count < scope.query.requestTypes.count {
            // After a refusal that has named some types, one that names none is about the same types.
            return .typesRefused(named: [])
        }
    }

    private mutating func stream(
        _ types: [String], from vector: CheckpointVector, afresh: Bool
    ) async throws -> StreamReport {
        if afresh {
            logFlaws()
            taken = StreamIntake.Counts()
            spooler = scope.services.makeSpooler(
                scope.projection, for: scope.query.principal, added: added, aliases: aliases)
        }
        spooler.beginRequest()
        creations?.beginRequest()
        let before = spooler.counts.lines
        do {
            let stream = try await scope.backend.openStream(
                types: types, vector: vector, isCompressed: !avoidsCompression, scope.identity.forwarded)
            logRefusedTypes()
            try await acceptance.accepted()
            try await markAccepted()
            for try await buffer in stream {
                buffer.withUnsafeReadableBytes { creations?.feed($0) }
                try await spooler.take(buffer)
                if spooler.isEnded { break }
            }
            if !spooler.isEnded { logBrokenEnd() }
        } catch let error as BackendError where error.isWorthResuming {
            scope.logger.notice("the backend's stream broke", metadata: ["code": "\(error.code)", "error": "\(error)"])
        }
        let report = spooler.report()
        if report.end == .broken {
            breaks += 1
            // Compression may have held lines back, together with the reason for the break.
            avoidsCompression = spooler.counts.lines == before
        }
        return report
    }
}

// The log of a stream.
extension StreamRunner {
    /// The client's tables with a request type that was left out.
    var refusedTables: [String] {
        let (schema, version) = (scope.projection.schema, scope.projection.schemaVersion)
        return schema.tables(at: version).filter { table in
            table.feeds.contains { feed in
                feed.version(at: version).map { refusedTypes.contains($0.requestType) } ?? false
            }
        }.map(\.name)
    }

    /// Logs the flaws of lines, one line for each kind that did not occur before.
    func logFlaws(since before: StreamFlaws = StreamFlaws()) {
        let kinds = spooler.flaws.kinds.filter { before.kinds[$0.key] == nil }
        for (kind, lines) in kinds.sorted(by: { $0.key.code < $1.key.code }) {
            let first = lines.first.map { "\($0.number)" + ($0.type.map { " (\($0))" } ?? "") }
            scope.logger.notice(
                "lines of the backend's stream are not as agreed on",
                metadata: [
                    "code": "\(kind.code)", "lines": "\(lines.count)", "first": "\(first.joined(separator: ", "))",
                ])
        }
    }

    /// Logs the types that the backend refuses, once it accepts the others: until then they are a guess.
    private mutating func logRefusedTypes() {
        guard refusedTypes != loggedRefused else { return }
        loggedRefused = refusedTypes
        scope.logger.error(
            "the backend does not take some request types any more; their tables get nothing, the others go on",
            metadata: [
                "code": "backend.types", "types": "\(refusedTypes.sorted().joined(separator: " "))",
                "tables": "\(refusedTables.joined(separator: " "))",
                "hint": "change 'request' in the configuration, with 'then … since N' for clients of other versions",
            ])
    }

    /// Logs the end of an answer that is whole but has no complete line.
    private mutating func logBrokenEnd() {
        let end = spooler.finishRequest()
        var metadata: Logger.Metadata = [
            "code": "stream.incomplete", "lines": "\(end.lines)",
            "call": "\(scope.services.backend.settings.stream.title)",
        ]
        if let type = end.lastType { metadata["last_type"] = "\(type)" }
        guard end.unfinishedBytes > 0 else {
            scope.logger.notice("the backend's stream ended without its complete line", metadata: metadata)
            return
        }
        metadata["code"] = "stream.no_line_end"
        metadata["bytes"] = "\(end.unfinishedBytes)"
        scope.logger.notice(
            "the last line of the backend's stream has no line end, so it is not whole", metadata: metadata)
    }

    /// Logs that the backend refuses its own checkpoints; the pull starts from the beginning.
    private func logRefusedTokens(status: Int) {
        scope.logger.error(
            "the backend refuses checkpoints that it has made itself",
            metadata: ["code": "backend.tokens_refused", "status": "\(status)"])
    }
}
