// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import GatewayConfig
import JSONBytes
import Logging
import StateStore
import SyncEngine
import SyncModel

/// Closes the journals of pushes that were cut off, before anything else is done for their principal (finding 19).
///
/// A record that was made, and whose id nobody has noted, would come to its own device as a second one; so where that
/// cannot be found out for the moment, neither pull nor push goes on.
struct JournalCloser {
    /// How long a journal is kept open, in milliseconds, for a request that the backend fails to answer again and again:
    /// no device may stay stuck for ever.
    static let patience: Int64 = 3_600_000

    typealias Open = (journal: PushJournal, flights: [PushFlight])

    let services: SyncServices
    let identity: CallerIdentity
    let logger: Logger

    /// Whether a journal is open that keeps a pull from going on.
    var isNeeded: Bool {
        get async throws {
            try await services.store.openJournals(of: identity.principal)
                .contains { !services.journals.isHarmless($0.journal.id) }
        }
    }

    /// Closes what is open.
    ///
    /// - Precondition: Nobody pushes for the principal meanwhile.
    /// - Throws: What keeps a journal open: the caller's request must not go on then.
    func close() async throws {
        for open in try await services.store.openJournals(of: identity.principal) { try await close(open) }
    }

    private func close(_ open: Open) async throws {
        let flights = Dictionary(uniqueKeysWithValues: open.flights.filter(\.makesID).map { ($0.place, $0) })
        var closing = JournalClosing(
            flights.values.sorted { $0.place < $1.place }
                .map { JournalClosing.Creation(place: $0.place, means: means($0)) })
        var action = closing.begin()
        while true {
            switch action {
            case .repeatRequest(let place):
                guard let flight = flights[place] else { preconditionFailure("a creation is not in flight") }
                action = closing.handle(try await repeatRequest(flight, open.journal))
            case .search(let places):
                action = closing.handle(.found(try await search(places.compactMap { flights[$0] }, open.journal)))
            case .close(let found, let lost): return try await close(open, flights, found: found, lost: lost)
            }
        }
    }

    private func means(_ flight: PushFlight) -> JournalClosing.Means {
        guard let call = creation(flight.record.table) else { return .none }
        if flight.request != nil, services.configuration.push.idempotencyHeader != nil { return .repetition }
        return call.reference != nil || sought(flight) != nil ? .search : .none
    }

    /// The call that makes records of a table, as it is configured now.
    private func creation(_ table: String) -> Call? {
        guard case .call(let call) = services.configuration.schema.table(named: table)?.calls.create,
            call.returns != nil
        else { return nil }
        return call
    }

    /// Makes the very same request once more, with the caller's credential: the backend answers as it did, or does now
    /// what it has not done.
    private func repeatRequest(_ flight: PushFlight, _ journal: PushJournal) async throws -> JournalClosing.Event {
        guard let call = creation(flight.record.table), let request = flight.request,
            let header = services.configuration.push.idempotencyHeader
        else { return .unanswerable }
        var backend = services.backend
        backend.logger = logger
        do {
            let outcome = try await backend.call(
                call, CallRequest(method: request.method, target: request.target, body: request.body),
                identity.forwarded, key: (name: header, value: request.key))
            guard outcome.meaning == .ok || outcome.meaning == .exists else { return .refused }
            return outcome.returned.map { .created($0) } ?? .unanswerable
        } catch .refused(let status) where status != 408 && status != 425 {
            return .refused
        } catch .credentialRefused(status: 403) {
            return .refused
        } catch {
            let isOld = services.clock.now - journal.changedAt > Self.patience
            guard error.isTransient || !error.isOutcomeUnknown else { return .unanswerable }
            if case .failed = error, isOld { return .unanswerable }
            logger.warning(
                "a push that was cut off cannot be settled yet",
                metadata: ["journal": "\(journal.id)", "code": "\(error.code)", "error": "\(error)"])
            throw error
        }
    }

    /// Writes down what was found, and tells the operator what was not.
    private func close(
        _ open: Open, _ flights: [Int: PushFlight], found: [Int: String], lost: [Int]
    ) async throws {
        var closure = JournalClosure()
        closure.lost = lost.count
        for (place, id) in found.sorted(by: { $0.key < $1.key }) {
            guard let record = flights[place]?.record else { continue }
            if record.id != id {
                closure.mappings.append(IDMapping(table: record.table, clientID: record.id, backendID: id))
            }
            guard let table = services.configuration.schema.table(named: record.table), table.isLedgered,
                services.pullSettings.sweeps != nil, RecordID.isSafe(record.id)
            else { continue }
            // Of its links the note from before the push tells.
            closure.notes.append(PushNote(table: record.table, id: record.id, state: .held))
        }
        try await services.store.closeJournal(open.journal.id, with: closure, at: services.clock.now)
        logger.notice(
            "a push that was cut off is settled",
            metadata: [
                "journal": "\(open.journal.id)", "applied": "\(open.journal.applied)",
                "operations": "\(open.journal.operations)", "in_flight": "\(open.flights.count)",
                "found": "\(found.count)", "lost": "\(lost.count)",
            ])
        for record in lost.prefix(20).compactMap({ flights[$0]?.record }) {
            logger.warning(
                "nobody knows whether a record was created; if it was, it comes twice",
                metadata: [
                    "code": "push.unknown_create", "table": "\(record.table)", "record": "\(record.id)",
                    "journal": "\(open.journal.id)",
                    "hint": "[push] idempotency_header, or 'ref' in the table's 'create'",
                ])
        }
    }
}

// Looking in the stream (finding 20).
extension JournalCloser {
    /// Where the backend has the values of a creation's `match` columns; nil where there are none.
    private func sought(_ flight: PushFlight) -> [CreationSearch.Mark.Place]? {
        guard let bytes = flight.sought, let table = services.configuration.schema.table(named: flight.record.table),
            let values = try? JSONValue.parse(bytes)
        else { return nil }
        let places = (values.members ?? []).compactMap { member -> CreationSearch.Mark.Place? in
            guard let column = table.columns.first(where: { $0.name == member.name }) else { return nil }
            // Where the stream has it, which need not be where it is sent.
            let paths = column.sources.compactMap { if case .path(let path, _) = $0 { path } else { nil } }
            guard let path = paths.first ?? column.outgoingPath else { return nil }
            return CreationSearch.Mark.Place(path: path, value: member.value)
        }
        return places.isEmpty ? nil : places
    }

    private func subject(_ flight: PushFlight) -> CreationSearch.Subject? {
        let tables = services.configuration.schema.tables
        guard let table = tables.firstIndex(where: { $0.name == flight.record.table }) else { return nil }
        var mark = sought(flight).map { CreationSearch.Mark.values($0) }
        if let path = creation(flight.record.table)?.reference { mark = .reference(path) }
        return mark.map {
            CreationSearch.Subject(place: flight.place, table: table, id: flight.record.id, mark: $0)
        }
    }

    /// Looks for records in what has come since the push's cursor, or in everything where the stream cannot go on there.
    private func search(_ flights: [PushFlight], _ journal: PushJournal) async throws -> [Int: String] {
        let configuration = services.configuration
        let search = CreationSearch(
            flights.compactMap(subject), schema: configuration.schema, rules: configuration.envelopeRules)
        let tables = Set(flights.map(\.record.table))
        var done: CreationSearch?
        if let presented = journal.presented {
            done = try await services.streaming(identity, presented) {
                var runner = runner(tables, presented)
                return try await runner.look(for: search)
            }
        }
        if done == nil {
            done = try await services.streaming(identity, nil) {
                var runner = runner(tables, nil)
                return try await runner.look(for: search)
            }
        }
        guard let done else { throw PullFailure.streamBroken }
        var taken: [Int: Set<String>] = [:]
        for (table, ids) in done.guesses {
            taken[table] = try await services.store.mappedIDs(
                ids, in: configuration.schema.tables[table].name, of: identity.principal)
        }
        return done.found(taken: taken)
    }

    /// A pull for these tables alone, of which only the lines are looked at.
    private func runner(_ tables: Set<String>, _ presented: Cursor?) -> PullRunner {
        let version = services.versions.last ?? services.configuration.schema.version
        let digests = services.mappings.digests(at: version)
        var generator = SystemRandomNumberGenerator()
        let query = PullQuery(
            principal: identity.principal, session: identity.session, presented: presented, schemaVersion: nil,
            schema: services.configuration.schema, effectiveVersion: version, mappingDigest: digests.all,
            tableDigests: digests.tables, newReplica: .random(using: &generator)
        ).checking(tables)
        return PullRunner(
            services: services, query: query, identity: identity,
            projection: services.projections.projection(at: version), kept: nil, logger: logger)
    }
}

extension PullRunner {
    /// Streams what has changed since the cursor, or everything without one, and has a search look at its lines.
    ///
    /// - Returns: The search; nil where the stream cannot go on from the cursor.
    mutating func look(for search: CreationSearch) async throws -> CreationSearch? {
        creations = search
        var machine = PullMachine(query: query, settings: services.pullSettings)
        var action = machine.begin()
        while true {
            switch action {
            case .endCheck(.outdated): return nil
            case .endCheck(.complete): return creations
            case .fail(let failure): throw failure
            case .answer, .refuse: preconditionFailure("a check ends as a pull")
            default:
                try Task.checkCancellation()
                action = machine.handle(try await perform(action))
            }
        }
    }
}
