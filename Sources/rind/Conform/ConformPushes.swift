// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes

/// Tries the rules that need pushes.
///
/// Record `a` is changed by two devices, `b` is in a push that is refused, `c` is only ever updated, and `d` never
/// exists.
struct ConformPushes {
    /// A step without which the following ones make no sense.
    private struct Stop: Error {
        let reason: String
    }

    var run: ConformRun
    let scratch: ScratchRecords

    /// Tries all of them.
    ///
    /// - Returns: The ids of records that could not be deleted again.
    mutating func tryAll() async -> [String] {
        do throws(Stop) {
            _ = try await pull(.second)
            try await create()
            try await conflict()
            try await update()
            try await createAgain()
            try await updateMissing()
            try await delete()
        } catch {
            run.book.skip(ConformRule.allCases.filter(\.needsPush), because: error.reason)
        }
        return await cleanUp()
    }

    private mutating func create() async throws(Stop) {
        let pushed = await pushFirst()
        guard pushed.isSuccess else {
            run.book.fail(.pushCreate, "The push is refused.", in: pushed)
            throw Stop(reason: "no record can be created")
        }
        let id = scratch.id("a")
        let own = try await pull(.first)
        run.book.expect(
            !own.reading[scratch.table].created.contains(id), .pushEcho, in: own.exchange,
            or: "\(id) is in 'created', which would bring it back if the user has deleted it meanwhile.")
        let before = run.timestamps[.second]
        let other = try await pull(.second)
        guard has("a", 1, in: other) else {
            run.book.fail(.pushCreate, "\(id) does not come as it was pushed.", in: other.exchange)
            throw Stop(reason: "a created record does not come")
        }
        run.book.hold(.pushCreate)
        run.timestamps[.second] = before
        let repeated = try await pull(.second)
        run.book.expect(
            repeated.reading[scratch.table].brings(id), .pullRepeated, in: repeated.exchange,
            or: "\(id) has come with the first of two such pulls only.")
    }

    /// Pushes a record as the documentation's code does, and as JSON if that is refused.
    private mutating func pushFirst() async -> ConformExchange {
        let changes = scratch.changes(created: [scratch.record("a", text: 1, isNew: true)])
        let pushed = await push(changes, from: .first)
        guard run.client.shape.pushesText else {
            run.book.skip([.pushText], because: "the shape \(run.client.shape.rawValue) pushes JSON")
            return pushed
        }
        guard !pushed.isSuccess else {
            run.book.hold(.pushText)
            return pushed
        }
        run.client.shape = .docsJSON
        let again = await push(changes, from: .first)
        if again.isSuccess { run.book.fail(.pushText, "The push is refused as text, not as JSON.", in: pushed) }
        return again
    }

    /// Changes a record on both devices, of which the first has not seen the other's change.
    private mutating func conflict() async throws(Stop) {
        let pushed = await push(scratch.changes(updated: [scratch.record("a", text: 2, isNew: false)]), from: .second)
        let seen = try await pullAfresh()
        guard pushed.isSuccess, has("a", 2, in: seen) else {
            run.book.fail(
                .pushUpdate, pushed.isSuccess ? "The update is not applied." : "The push is refused.", in: pushed)
            return run.book.skip([.pushConflict, .pushAtomic, .pullUpdated], because: "no record can be updated")
        }
        let late = await push(
            scratch.changes(
                created: [scratch.record("b", text: 1, isNew: true)],
                updated: [scratch.record("a", text: 3, isNew: false)]), from: .first)
        let isRefused = late.answer != nil && !late.isSuccess
        run.book.expect(isRefused, .pushConflict, in: late, or: "The push overwrites what another device has changed.")
        let own = try await pull(.first)
        let lists = own.reading[scratch.table]
        if isRefused {
            run.book.expect(
                !lists.brings(scratch.id("b")) && !has("a", 3, in: own), .pushAtomic, in: own.exchange,
                or: "A part of the refused push was applied.")
        } else {
            run.book.skip([.pushAtomic], because: "no push was refused")
        }
        guard lists.brings(scratch.id("a")) else { return }
        run.book.expect(
            lists.updated.contains(scratch.id("a")), .pullUpdated, in: own.exchange,
            or: "\(scratch.id("a")) is in 'created', although the device has it.")
    }

    private mutating func update() async throws(Stop) {
        let changes = scratch.changes(updated: [scratch.record("a", text: 4, isNew: false)])
        guard let seen = try await push(changes, .pushUpdate, from: .second, to: .first) else { return }
        expect(has("a", 4, in: seen), .pushUpdate, in: seen)
    }

    private mutating func createAgain() async throws(Stop) {
        let changes = scratch.changes(created: [scratch.record("a", text: 5, isNew: true)])
        guard let seen = try await push(changes, .pushCreateAgain, from: .first, to: .second) else { return }
        expect(has("a", 5, in: seen), .pushCreateAgain, in: seen)
    }

    private mutating func updateMissing() async throws(Stop) {
        let changes = scratch.changes(updated: [scratch.record("c", text: 6, isNew: false)])
        guard let seen = try await push(changes, .pushUpdateMissing, from: .first, to: .second) else { return }
        expect(has("c", 6, in: seen), .pushUpdateMissing, in: seen)
    }

    private mutating func delete() async throws(Stop) {
        let missing = scratch.changes(deleted: ["d"])
        if try await push(missing, .pushDeleteMissing, from: .first, to: .second) != nil {
            run.book.hold(.pushDeleteMissing)
        }
        let id = scratch.id("a")
        let changes = scratch.changes(deleted: ["a"])
        let seen = try await push(changes, .pushDelete, from: .first, to: .second)
        let isDeleted = seen?.reading[scratch.table].deleted.contains(id) ?? false
        if let seen { expect(isDeleted, .pushDelete, in: seen) }
        guard isDeleted else {
            return run.book.skip([.pushDeleteAgain, .pullGone], because: "no record can be deleted")
        }
        if try await push(changes, .pushDeleteAgain, from: .first, to: .second) != nil {
            run.book.hold(.pushDeleteAgain)
        }
        let everything = try await pullAfresh()
        run.book.expect(
            !everything.reading[scratch.table].brings(id), .pullGone, in: everything.exchange,
            or: "\(id) comes although it was deleted.")
    }

    /// Deletes the records that a device still gets.
    private mutating func cleanUp() async -> [String] {
        let ids: [Character] = ["a", "b", "c"]
        guard let pulled = try? await pullAfresh() else { return ids.map(scratch.id) }
        // A server that sends deleted records does not need them deleted again.
        let left = ids.filter { pulled.reading[scratch.table].brings(scratch.id($0)) && !isGone($0) }
        guard !left.isEmpty else { return [] }
        let pushed = await push(scratch.changes(deleted: left), from: .fresh)
        return pushed.isSuccess ? [] : left.map(scratch.id)
    }

    private func isGone(_ letter: Character) -> Bool {
        letter == "a" && run.book.outcome(of: .pushDelete) == .holds
    }

    private mutating func expect(_ condition: Bool, _ rule: ConformRule, in seen: ConformRun.Pulled) {
        run.book.expect(condition, rule, in: seen.exchange, or: "The change does not reach the other device.")
    }

    private func has(_ letter: Character, _ number: Int, in pulled: ConformRun.Pulled) -> Bool {
        scratch.has(pulled.reading.watched[scratch.id(letter)], text: number)
    }

    private mutating func pull(_ device: ConformRun.Device) async throws(Stop) -> ConformRun.Pulled {
        let ids: [Character] = ["a", "b", "c"]
        guard let pulled = await run.pull(device, watching: Set(ids.map(scratch.id))),
            pulled.reading.timestamp != nil
        else { throw Stop(reason: "a pull fails") }
        return pulled
    }

    /// Pulls everything, as a device of its own.
    private mutating func pullAfresh() async throws(Stop) -> ConformRun.Pulled {
        run.timestamps[.fresh] = nil
        return try await pull(.fresh)
    }

    private func push(_ changes: JSONValue, from device: ConformRun.Device) async -> ConformExchange {
        await run.client.push(changes, since: run.timestamps[device] ?? 1)
    }

    /// Pulls and pushes as one device, then pulls as another one.
    ///
    /// - Returns: The last pull; nil if the push is refused, which is noted.
    private mutating func push(
        _ changes: JSONValue, _ rule: ConformRule, from device: ConformRun.Device, to other: ConformRun.Device
    ) async throws(Stop) -> ConformRun.Pulled? {
        _ = try await pull(device)
        let pushed = await push(changes, from: device)
        guard pushed.isSuccess else {
            run.book.fail(rule, "The push is refused.", in: pushed)
            return nil
        }
        return try await pull(other)
    }
}
