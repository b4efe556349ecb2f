// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// One numbered step of the schema of a state in PostgreSQL.
///
/// A step that has been released is never edited: a new one follows it. Steps only add: gateways of the version before
/// go on with the new schema while they are replaced one by one.
package struct PostgresMigration: Hashable, Sendable {
    /// The step's number; the version of a schema that has the step.
    package var number: Int
    /// The oldest version of the schema whose gateways can go on with this step.
    package var compatibleFrom: Int
    /// The statements, run in one transaction together with those of all other steps that are due.
    package var statements: [String]

    /// Creates a step.
    package init(number: Int, compatibleFrom: Int, statements: [String]) {
        self.number = number
        self.compatibleFrom = compatibleFrom
        self.statements = statements
    }

    /// All steps, in the order of their numbers.
    package static let all: [PostgresMigration] = [
        PostgresMigration(
            number: 1, compatibleFrom: 1,
            statements: callers + cursors + ledgers + pushes + journals + quarantines),
        PostgresMigration(number: 2, compatibleFrom: 1, statements: leases),
        PostgresMigration(number: 3, compatibleFrom: 1, statements: troubles),
        // Gateways of before cannot read what has defaults in place of values (chunk kinds 5 and 6).
        PostgresMigration(number: 4, compatibleFrom: 4, statements: scopes),
        // Gateways of before cannot read what has the content of before a push (chunk kind 7).
        PostgresMigration(number: 5, compatibleFrom: 5, statements: distrust),
    ]
}
