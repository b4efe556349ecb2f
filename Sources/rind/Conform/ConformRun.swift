// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes

/// Plays devices of one user against an endpoint, and notes which rules hold.
struct ConformRun {
    /// A device of the user, which the endpoint knows by the timestamp of its last pull.
    enum Device {
        /// The one that changes most records.
        case first
        case second
        /// One that has not pulled before.
        case fresh
    }

    /// An answer to a pull, read.
    struct Pulled {
        var reading: PullReading
        var exchange: ConformExchange
    }

    /// The reason why no rule could be tried.
    struct Untried: Error {
        let exchange: ConformExchange
    }

    var client: ConformClient
    var book = ConformBook()
    /// The timestamps of the devices' last pulls.
    var timestamps: [Device: Int64] = [:]

    /// Tries the rules that need no push.
    ///
    /// - Returns: The first pull; nil if it could not be read.
    /// - Throws: ``Untried`` if there is no endpoint, or if it refuses the credential.
    mutating func tryPulls() async throws(Untried) -> PullReading? {
        let exchange = await client.pull(since: nil)
        guard let answer = exchange.answer, ![401, 403, 404].contains(answer.status) else {
            throw Untried(exchange: exchange)
        }
        guard let everything = read(exchange, for: .first) else { return nil }
        guard timestamps[.first] != nil else { return everything }
        await pullAgain(after: everything)
        await pullMigration(after: everything)
        return everything
    }

    private mutating func pullAgain(after everything: PullReading) async {
        let records = everything.names.flatMap { name in everything[name].records.map { name + "/" + $0 } }
        guard let later = await pull(.first) else { return }
        guard records.count > 1 else {
            return book.skip([.pullIncremental], because: "the first pull brings less than two records")
        }
        let again = records.count { path in
            let name = path.prefix { $0 != "/" }
            return later.reading[String(name)].brings(String(path.dropFirst(name.count + 1)))
        }
        book.expect(
            again < records.count, .pullIncremental, in: later.exchange,
            or: "All \(records.count) records of the first pull come again.")
    }

    /// Pulls as an app whose newest version has added a table that in truth is there already.
    private mutating func pullMigration(after everything: PullReading) async {
        guard let version = client.schemaVersion, version > 1, client.shape != .docsOld else {
            return book.skip([.pullMigration], because: "needs --schema-version 2 or higher")
        }
        guard let table = everything.names.first(where: { !everything[$0].records.isEmpty }) else {
            return book.skip([.pullMigration], because: "the first pull brings no record")
        }
        let migration = JSONValue.object([
            .init("from", .integer(Int64(version - 1))), .init("tables", .array([.string(table)])),
            .init("columns", .array([])),
        ])
        guard let pulled = await pull(.first, migration: migration) else { return }
        let missing = everything[table].records.filter { !pulled.reading[table].names($0) }
        book.expect(
            missing.isEmpty, .pullMigration, in: pulled.exchange,
            or: "\(missing.count) of \(everything[table].records.count) records of '\(table)' are missing.")
    }

    /// Pulls for a device and moves it on.
    ///
    /// - Returns: Nil if the answer cannot be read; that is noted.
    mutating func pull(
        _ device: Device, migration: JSONValue = .null, watching ids: Set<String> = []
    ) async -> Pulled? {
        let exchange = await client.pull(since: timestamps[device], migration: migration)
        guard let reading = read(exchange, for: device, watching: ids) else { return nil }
        return Pulled(reading: reading, exchange: exchange)
    }

    /// Reads an answer and holds it to the rules of every answer.
    private mutating func read(
        _ exchange: ConformExchange, for device: Device, watching ids: Set<String> = []
    ) -> PullReading? {
        guard exchange.isSuccess, let body = exchange.answer?.body else {
            book.fail(.pullAnswer, "The pull fails.", in: exchange)
            return nil
        }
        let reading: PullReading
        do throws(PullReading.Unreadable) { reading = try PullReading(body, watching: ids) } catch {
            book.fail(.pullAnswer, error.reason, in: exchange)
            return nil
        }
        book.hold(.pullAnswer)
        for rule in ConformRule.ofAnswers {
            let problem = reading.problems[rule]
            book.expect(problem == nil, rule, in: exchange, or: problem ?? "")
        }
        if let before = timestamps[device] {
            let after = reading.timestamp ?? before
            book.expect(after >= before, .pullForward, in: exchange, or: "\(after) follows \(before).")
        } else {
            let deletions = reading.names.reduce(0) { $0 + reading[$1].deletions }
            book.expect(
                deletions == 0, .pullFirstDeletions, in: exchange,
                or: "It has \(deletions) \(deletions == 1 ? "deletion" : "deletions").")
        }
        timestamps[device] = reading.timestamp ?? timestamps[device]
        return reading
    }
}
