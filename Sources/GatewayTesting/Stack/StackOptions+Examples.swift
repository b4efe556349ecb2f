// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

extension StackOptions {
    /// The example `integer-ids`: folders and notes, whose ids the backend counts.
    package static func integerIDs(_ overrides: [String: String] = [:]) throws -> StackOptions {
        var options = StackOptions(overrides)
        options.configuration = try StackConfiguration.example("integer-ids")
        return options
    }
}

extension ClientSchema {
    /// The schema of the example `integer-ids`.
    package static let integerIDs = ClientSchema(tables: [
        Table("folders", columns: [Column("name", .string), Column("parent_id", .string, isOptional: true)]),
        Table(
            "notes",
            columns: [
                Column("title", .string), Column("body", .string, isOptional: true),
                Column("folder_id", .string, isOptional: true),
            ]),
    ])
}
