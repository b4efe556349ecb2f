// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncEngine
package import SyncModel

/// The gateway's durable state with the transactions of a pull; what is not in it is lost in a crash.
package struct SimulatedState {
    /// Every cursor that was made, by its integer.
    package private(set) var rows: [Int64: CursorRow] = [:]
    /// What is known of each session.
    package private(set) var sessions: [Session: SessionRow] = [:]

    /// What a pull begins with.
    func context(presented: Cursor?, session: Session) -> PullContext {
        let row = presented.flatMap { rows[$0.rawValue] }
        return PullContext(
            row: row,
            hasConfirmedSuccessor: row.map { row in
                rows.values.contains { $0.parent == row.cursor && $0.replica == row.replica && $0.isConfirmed }
            } ?? false,
            isNewestOfReplica: row.map { row in
                !rows.values.contains { $0.replica == row.replica && $0.cursor > row.cursor }
            } ?? true,
            newest: newest, session: sessions[session] ?? SessionRow())
    }

    /// The newest integer that was handed out.
    var newest: Cursor? { rows.keys.max().flatMap { Cursor(rawValue: $0) } }

    /// Transaction 1.
    mutating func confirm(_ cursor: Cursor) { rows[cursor.rawValue]?.isConfirmed = true }

    /// Transactions 2 and 3.
    mutating func store(_ position: Position, session: Session) {
        sessions[session, default: SessionRow()].position = position
    }

    /// Transaction 4.
    mutating func raiseGeneration(session: Session) -> Int {
        sessions[session, default: SessionRow()].generation += 1
        sessions[session]?.position = .unknown
        return sessions[session]?.generation ?? 0
    }

    /// Transaction 5; gives the newest cursor back where the row's is not newer.
    mutating func commit(_ row: CursorRow) -> Cursor? {
        if let newest, row.cursor <= newest { return newest }
        rows[row.cursor.rawValue] = row
        return nil
    }

    /// What an operator does after restoring an older copy: nothing that the sessions are believed to hold is true.
    mutating func distrustAll() {
        for session in sessions.keys {
            sessions[session]?.generation += 1
            sessions[session]?.position = .unknown
        }
    }
}
