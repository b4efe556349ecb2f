// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Deduplication
import SyncMachines
import SyncModel
import Testing

/// How a pull makes the backend hold exactly the vector of its cursor (findings 4 to 6).
@Suite struct PullPositionTests {
    typealias Book = PullPlaybook

    @Test func `a backend that does not take a name is made to forget everything, and the vector is set anew`() throws {
        var pull = Book(presented: 1_000)
        let held = CheckpointVector(Book.vector.tokens.merging(["GoneV1": "GoneV1|3"]) { $1 })
        pull.send(.context(Book.context(try Book.row(), position: .at(held))), expect: .storePosition(.unknown))
        pull.send(.done, expect: .forget(["GoneV1"]))
        pull.send(.namespacesRefused, expect: .storePosition(.unknown))
        pull.send(.done, expect: .forgetAll)
        let tokens = Book.vector.namespaces.compactMap { Book.vector[$0] }
        pull.send(.done, expect: .acknowledge(tokens))
        var refused = pull
        pull.send(.done, expect: .storePosition(.at(Book.vector)))
        pull.send(.done, expect: .stream(from: Book.vector))
        // Where the backend takes the tokens no more either, everything comes.
        refused.send(.tokensRefused, expect: .forgetAll)
        refused.send(.done, expect: .stream(from: CheckpointVector()))
    }

    @Test func `an unknown position is asked for, and nothing is set where it is right already`() throws {
        var pull = Book(presented: 1_000)
        pull.send(.context(Book.context(try Book.row(), position: .unknown)), expect: .listCheckpoints)
        pull.send(.listed(Book.vector), expect: .storePosition(.at(Book.vector)))
        pull.send(.done, expect: .stream(from: Book.vector))
    }

    @Test func `superfluous namespaces are deleted by name and differing tokens posted`() throws {
        var pull = Book(presented: 1_000)
        let held = CheckpointVector([
            "AlbumV1": "AlbumV1|5", "LinkV1": "LinkV1|9", "LinkBackfillV1": "LinkBackfillV1|2|complete",
            "AlbumDeleteV1": "AlbumDeleteV1|8", "ZooV1": "ZooV1|1", "SyncCompleteV1": "SyncCompleteV1|30",
        ])
        pull.send(.context(Book.context(try Book.row(), position: .at(held))), expect: .storePosition(.unknown))
        pull.send(.done, expect: .forget(["AlbumDeleteV1", "ZooV1"]))
        // The row's completion token goes along: a newer one would hide that this device was away for too long.
        pull.send(.done, expect: .acknowledge(["LinkV1|5", "SyncCompleteV1|9"]))
        pull.send(.done, expect: .storePosition(.at(Book.vector)))
        pull.send(.done, expect: .stream(from: Book.vector))
    }

    @Test func `a completion token that is too new is set back even where no data differs`() throws {
        var pull = Book(presented: 1_000)
        var held = Book.vector
        held["SyncCompleteV1"] = "SyncCompleteV1|99"
        pull.send(.context(Book.context(try Book.row(), position: .at(held))), expect: .storePosition(.unknown))
        pull.send(.done, expect: .acknowledge(["SyncCompleteV1|9"]))
        pull.send(.done, expect: .storePosition(.at(Book.vector)))
        pull.send(.done, expect: .stream(from: Book.vector))
    }

    @Test func `a position that was unknown already is not stored as unknown again`() throws {
        var pull = Book(presented: 1_000)
        pull.send(.context(Book.context(try Book.row(), position: .unknown)), expect: .listCheckpoints)
        pull.send(.listed(CheckpointVector(["ZooV1": "ZooV1|1"])), expect: .forget(["ZooV1"]))
        pull.send(
            .done,
            expect: .acknowledge(["AlbumV1|5", "LinkBackfillV1|2|complete", "LinkV1|5", "SyncCompleteV1|9"]))
        pull.send(.done, expect: .storePosition(.at(Book.vector)))
    }

    @Test func `where the backend may write by itself the position is unknown before the stream and stays so`() throws {
        var pull = Book(presented: 1_000)
        let vector = CheckpointVector(["AlbumV1": "AlbumV1|5", "SyncCompleteV1": "SyncCompleteV1|9"])
        pull.send(
            .context(Book.context(try Book.row(vector: vector), position: .at(vector))),
            expect: .storePosition(.unknown))
        pull.send(.done, expect: .stream(from: vector))
        let received = ["AlbumV1": "AlbumV1|8", "SyncCompleteV1": "SyncCompleteV1|20"]
        pull.send(.ended(.complete, received: received, carriedData: true), expect: .listCheckpoints)
        let held = CheckpointVector([
            "AlbumV1": "AlbumV1|5", "LinkBackfillV1": "LinkBackfillV1|4|complete", "SyncCompleteV1": "SyncCompleteV1|9",
        ])
        pull.send(.listed(held), expect: .readClock)
        guard case .commit(let row, _) = pull.send(.clock(2_000)) else {
            Issue.record("expected a commit, got \(pull.action)")
            return
        }
        // What came in lines is newer than what the backend holds; what only the backend holds, it wrote itself.
        #expect(
            row.vector
                == CheckpointVector([
                    "AlbumV1": "AlbumV1|8", "LinkBackfillV1": "LinkBackfillV1|4|complete",
                    "SyncCompleteV1": "SyncCompleteV1|20",
                ]))
        guard case .answer = pull.send(.done) else {
            Issue.record("expected the answer, got \(pull.action)")
            return
        }
    }

    @Test func `after a stream of all upsert namespaces nothing is listed`() throws {
        var pull = Book(presented: 1_000)
        pull.send(.context(Book.context(try Book.row())))
        pull.send(.ended(.complete), expect: .readClock)
    }

    /// The backend as another gateway may still move it, and the pull that streams from it.
    private static func distrusting() throws -> Book {
        var pull = Book(presented: 1_000, distrustsPosition: true)
        pull.send(.context(Book.context(try Book.row(), position: .unknown)), expect: .listCheckpoints)
        pull.send(.listed(Book.vector), expect: .stream(from: Book.vector))
        return pull
    }

    @Test func `7: a distrusted position is compared after the stream, and a moved one fails the pull`() throws {
        var pull = try Self.distrusting()
        pull.send(.ended(.complete), expect: .listCheckpoints)
        var moved = pull
        pull.send(.listed(Book.vector), expect: .readClock)
        var held = Book.vector
        held["LinkV1"] = "LinkV1|9"
        moved.send(.listed(held), expect: .fail(.positionMoved))
    }

    @Test func `7: a distrusted position is compared where a stream broke, before it is set anew`() throws {
        var pull = try Self.distrusting()
        pull.send(.ended(.broken, received: ["LinkV1": "LinkV1|10"], carriedData: true))
        guard case .stream(.sleep) = pull.action else {
            Issue.record("expected a pause, got \(pull.action)")
            return
        }
        pull.send(.done, expect: .listCheckpoints)
        var (moved, held, vector) = (pull, Book.vector, Book.vector)
        // The lines between 5 and 9 have not come.
        held["LinkV1"] = "LinkV1|9"
        moved.send(.listed(held), expect: .fail(.positionMoved))
        // Nothing has moved it: the stream goes on behind its last line.
        vector["LinkV1"] = "LinkV1|10"
        pull.send(.listed(Book.vector), expect: .acknowledge(["LinkV1|10"]))
        pull.send(.done, expect: .stream(from: vector, afresh: false))
    }

    @Test func `7: where the backend writes by itself, a namespace that has moved is begun anew after a break`() throws
    {
        var pull = Book(presented: 1_000, distrustsPosition: true)
        let vector = CheckpointVector(["AlbumV1": "AlbumV1|5", "SyncCompleteV1": "SyncCompleteV1|9"])
        pull.send(
            .context(Book.context(try Book.row(vector: vector), position: .unknown)), expect: .listCheckpoints)
        pull.send(.listed(vector), expect: .stream(from: vector))
        pull.send(.ended(.broken, received: ["AlbumV1": "AlbumV1|8", "LinkV1": "LinkV1|3"], carriedData: true))
        pull.send(.done, expect: .listCheckpoints)
        var held = vector
        held["LinkV1"] = "LinkV1|2"
        pull.send(.listed(held), expect: .forget(["LinkV1"]))
        pull.send(.done, expect: .acknowledge(["AlbumV1|8"]))
        let rest = CheckpointVector(["AlbumV1": "AlbumV1|8", "SyncCompleteV1": "SyncCompleteV1|9"])
        pull.send(.done, expect: .stream(from: rest, afresh: false))
    }
}
