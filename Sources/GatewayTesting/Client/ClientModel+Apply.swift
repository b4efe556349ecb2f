// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import JSONBytes

extension ClientModel {
    /// Applies the body of a pull answer as the library's `applyRemote` does.
    ///
    /// - Parameters:
    ///   - body: The answer's bytes.
    ///   - arguments: The arguments of the pull; with them, a sync that finished meanwhile is noticed, and a
    ///     requested migration counts as done.
    /// - Returns: The outcome. After a failure the database is unchanged, but rows that had been prepared stay
    ///   unusable until ``restart()``.
    package mutating func apply(_ body: [UInt8], to arguments: ClientPullArguments? = nil) -> ClientApplied {
        var text = body[...]
        // Response.text() takes a byte order mark away.
        if text.starts(with: [0xef, 0xbb, 0xbf]) { text = text.dropFirst(3) }
        let limits = JSONValue.Limits(bytes: .max, depth: 512, elements: .max)
        guard let answer = try? JSONValue.parse(Array(text), limits: limits) else {
            return ClientApplied(failure: .notJSON)
        }
        return apply(answer, to: arguments)
    }

    /// Does with a pull answer what the library does.
    package mutating func apply(_ answer: JSONValue, to arguments: ClientPullArguments? = nil) -> ClientApplied {
        var applied = ClientApplied()
        do throws(ClientFailure) {
            try apply(answer, to: arguments, &applied)
        } catch {
            applied.failure = error
        }
        return applied
    }

    private mutating func apply(
        _ answer: JSONValue, to arguments: ClientPullArguments?, _ applied: inout ClientApplied
    ) throws(ClientFailure) {
        if isAdapterBroken { throw .adapterBroken }
        guard !answer.isNull else { throw .typeError("pull result is null") }
        let sets = try Self.changeSets(answer["changes"])
        for (_, set) in sets { applied.remoteChangeCount += try Self.count(set) }
        if let arguments, arguments.lastPulledAt != lastPulledAt { throw .concurrentSync }
        guard let timestamp = try Self.timestamp(answer["timestamp"]) else { throw .invalidTimestamp }
        let strategy = options.passesWholeAnswer ? answer["experimentalStrategy"] : nil
        var plans: [(name: String, set: JSONValue, isReplacement: Bool)] = []
        for (name, set) in sets {
            if schema.table(named: name, at: database.version) == nil {
                applied.log.append(.unknownTable(name))
            } else {
                plans.append((name, set, try Self.isReplacement(strategy, table: name)))
            }
        }
        var batch = ClientBatch(model: self)
        do throws(ClientFailure) {
            for plan in plans { try batch.prepare(plan.name, plan.set, isReplacement: plan.isReplacement) }
        } catch {
            // What was prepared stays so in the models that the process holds.
            pending = batch.pending
            applied.log += batch.log
            throw error
        }
        applied.log += batch.log
        try commit(batch)
        finish(timestamp: timestamp, arguments: arguments, &applied)
    }

    /// Writes a batch, all of it or nothing.
    private mutating func commit(_ batch: ClientBatch) throws(ClientFailure) {
        do throws(ClientFailure) {
            database = try batch.committed(to: database)
        } catch {
            if options.adapter == .loki {
                isAdapterBroken = true
                throw .adapterBroken
            }
            throw error
        }
        random = batch.random
    }

    /// Stores how far the client has got.
    private mutating func finish(timestamp: Double, arguments: ClientPullArguments?, _ applied: inout ClientApplied) {
        let previous = lastPulledAt
        if let previous, previous > timestamp { applied.log.append(.timestampWentBack(from: previous, to: timestamp)) }
        database.lastPulledAtText = JavaScriptNumber.text(timestamp)
        if previous == nil || arguments?.migration != nil { database.lastPulledSchemaVersion = database.version }
    }

    /// Returns the tables of an answer; none if `changes` is missing, null or without members.
    private static func changeSets(_ changes: JSONValue?) throws(ClientFailure) -> [(String, JSONValue)] {
        switch changes {
        case .object(let members): return members.map { ($0.name, $0.value) }
        case .array(let elements): return elements.enumerated().map { (String($0), $1) }
        case .string(let text) where !text.isEmpty: throw .typeError("changes is a string")
        case nil, .null, .bool, .number, .string: return []
        }
    }

    private static func count(_ set: JSONValue) throws(ClientFailure) -> Int {
        var count = 0
        for name in ["created", "updated", "deleted"] {
            guard let list = set[name]?.array else { throw .typeError("\(name) is no array") }
            count += list.count
        }
        return count
    }

    /// Returns a number above zero, which may be infinite: JavaScript reads 1e400 as that.
    private static func timestamp(_ value: JSONValue?) throws(ClientFailure) -> Double? {
        guard case .number(let number) = value, let double = Double(number.spelling), double > 0 else { return nil }
        return double
    }

    private static func isReplacement(_ strategy: JSONValue?, table: String) throws(ClientFailure) -> Bool {
        switch strategy {
        case nil, .null: return false
        case .object:
            let chosen = strategy?["override"]?[table] ?? strategy?["default"]
            return try isReplacement(chosen.flatMap { $0.string == nil ? .bool(false) : $0 }, table: table)
        case .string("incremental"): return false
        case .string("replacement"): return true
        default: throw .invalidStrategy
        }
    }
}
