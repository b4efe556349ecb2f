// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Decides how an interrupted push is resolved: what is requested, and what follows from it (findings 19 and 20).
///
/// Nothing of the push goes on: the client comes with all of it again. Only creations are looked at whose record may
/// have got an id from the backend; everything else is idempotent when the client sends it once more.
package struct PushRecoveryMachine: SyncMachine, Sendable {
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

    /// A creation with an unknown outcome.
    package struct Creation: Hashable, Sendable {
        /// The index of its operation.
        package var index: Int
        /// The means to find it.
        package var means: Means
        /// Creates a creation.
        package init(index: Int, means: Means) {
            self.index = index
            self.means = means
        }
    }

    /// The next step; exactly one at a time.
    package enum Action: Hashable, Sendable {
        /// Make the request of this creation again; answered by `created`, `refused` or `unanswerable`.
        case repeatRequest(Int)
        /// Look for these creations in the stream; answered by `found`.
        case search([Int])
        /// The end: these ids were found, and these creations stay unknown.
        case close(found: [Int: String], lost: [Int])
        /// The end: an event came that no action had asked for; the journal stays open, and the next request begins
        /// anew.
        case fail(UnexpectedEvent)
    }

    /// The outcome of the last ``Action``.
    package enum Event: Hashable, Sendable {
        /// It has happened, before or just now, and the record has this id.
        case created(String)
        /// It has not happened, and will not.
        case refused
        /// The answer does not say what has happened, and will not say so another time: the stream may.
        case unanswerable
        /// The ids of those that were found.
        case found([Int: String])
    }

    private var repetitions: [(index: Int, canSearch: Bool)] = []
    private var searched: [Int]
    /// The ids that were found so far.
    package private(set) var found: [Int: String] = [:]
    private var lost: [Int]

    /// Creates a recovery of a push with these creations in flight.
    package init(_ creations: [Creation]) {
        for creation in creations {
            if case .repetition(let canSearch) = creation.means { repetitions.append((creation.index, canSearch)) }
        }
        searched = creations.filter { $0.means == .search }.map(\.index)
        lost = creations.filter { $0.means == .none }.map(\.index)
    }

    /// Returns the first action.
    package mutating func begin() -> Action { next() }

    /// Takes what happened and says what to do next.
    ///
    /// Where something cannot be had for the moment there is no event: the journal stays open, and whoever comes next
    /// begins anew.
    package mutating func handle(_ event: Event) -> Action {
        switch (next(), event) {
        case (.search(let indices), .found(let ids)):
            found.merge(ids.filter { indices.contains($0.key) }) { $1 }
            lost += indices.filter { ids[$0] == nil }
            searched = []
        case (.repeatRequest(let index), .created(let id)):
            found[index] = id
            repetitions.removeFirst()
        case (.repeatRequest, .refused): repetitions.removeFirst()
        case (.repeatRequest(let index), .unanswerable):
            let canSearch = repetitions.removeFirst().canSearch
            if canSearch { searched.append(index) } else { lost.append(index) }
        case (let asked, _): return .fail(UnexpectedEvent(event, in: asked))
        }
        return next()
    }

    private func next() -> Action {
        if let index = repetitions.first?.index { return .repeatRequest(index) }
        return searched.isEmpty ? .close(found: found, lost: lost.sorted()) : .search(searched)
    }
}
