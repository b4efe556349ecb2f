// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import SyncModel

extension PushRecoveryMachine {
    /// An interrupted push as the machine needs to know it, and the push that has come since.
    package struct Query: Hashable, Sendable {
        /// The cursor that the interrupted push came with.
        package var interrupted: Cursor?
        /// The age of its journal, in milliseconds; negative if it is from the future.
        package var age: Int64
        /// The time for which the backend knows an idempotency key, in milliseconds.
        package var keyLife: Int64
        /// The push at hand; nil for a pull.
        package var push: Push?
        /// The creations with an unknown outcome.
        package var creations: [Creation]

        /// Creates a query about an interrupted push.
        package init(
            _ creations: [Creation], interrupted: Cursor? = nil, age: Int64 = 0, keyLife: Int64 = .max,
            push: Push? = nil
        ) {
            self.creations = creations
            self.interrupted = interrupted
            self.age = age
            self.keyLife = keyLife
            self.push = push
        }
    }

    /// The push of a client whose earlier one was interrupted.
    package struct Push: Hashable, Sendable {
        /// The time that it came with.
        package var time: Int64?
        /// Its changes.
        package var tables: [PushedTable]

        /// Creates a push.
        package init(time: Int64?, tables: [PushedTable]) {
            self.time = time
            self.tables = tables
        }
    }

    /// A creation with an unknown outcome.
    package struct Creation: Hashable, Sendable {
        /// The index of its operation.
        package var index: Int
        /// The client's name of its table.
        package var table: String
        /// The client's id of its record.
        package var id: String
        /// True if its request, with an idempotency key, is in the journal.
        package var hasRequest: Bool
        /// True if the record can be known in the stream.
        package var canSearch: Bool

        /// Creates a creation.
        package init(index: Int, table: String, id: String, hasRequest: Bool, canSearch: Bool) {
            self.index = index
            self.table = table
            self.id = id
            self.hasRequest = hasRequest
            self.canSearch = canSearch
        }
    }

    /// The means by which a creation's outcome and id can be found.
    package enum Means: Hashable, Sendable {
        /// The same request under the same idempotency key: its answer holds the id. Where it does not say what has
        /// happened, the record is looked for in the stream if it can be known there.
        case repetition(thenSearch: Bool)
        /// A row of the stream that holds the client's id, or equal values.
        case search
        /// None.
        case none

        /// Chooses the best of the available means.
        ///
        /// A repetition carries out a creation that has not happened yet, which is wrong for a record that its device
        /// no longer has: such a record is searched. If it cannot be, one that the device deletes is created, so that
        /// the deletion finds it, because it may be there already; one that the device does not name is left.
        package init(canRepeat: Bool, canSearch: Bool, inferred: InferredState) {
            self =
                switch inferred {
                case .unknown: canRepeat ? .repetition(thenSearch: canSearch) : canSearch ? .search : .none
                case .deleted: canSearch ? .search : canRepeat ? .repetition(thenSearch: false) : .none
                case .gone: canSearch ? .search : .none
                }
        }
    }

    /// The state of the record on its device now, inferred from the device's next push.
    package enum InferredState: Hashable, CaseIterable, Sendable {
        /// The record is there, or unknown.
        case unknown
        /// The user has deleted the record.
        case deleted
        /// The record is gone: a client names all records that it has not synced.
        case gone
    }
}

extension PushRecoveryMachine.Query {
    /// Returns the means to find out about a creation.
    ///
    /// The backend would carry out a request again whose key it has forgotten. The age of a journal from the future is
    /// unknown.
    package func means(of creation: PushRecoveryMachine.Creation) -> PushRecoveryMachine.Means {
        PushRecoveryMachine.Means(
            canRepeat: creation.hasRequest && age >= 0 && age < keyLife, canSearch: creation.canSearch,
            inferred: inferred(creation))
    }

    /// Returns the state of a record on the creating device; unknown if another device pushes.
    ///
    /// The creating device presents the interrupted push's cursor, and its push has the record's table.
    package func inferred(_ creation: PushRecoveryMachine.Creation) -> PushRecoveryMachine.InferredState {
        guard let push, let time = push.time, time == interrupted?.rawValue,
            let table = push.tables.first(where: { $0.name == creation.table })
        else { return .unknown }
        let id = creation.id
        if table.deleted.contains(id) { return .deleted }
        return table.created.contains { $0.id == id } || table.updated.contains { $0.id == id } ? .unknown : .gone
    }
}
