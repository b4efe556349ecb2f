// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

extension StackOptions {
    /// Creates the example `integer-ids`: folders and notes, whose ids the backend counts.
    package static func integerIDs(_ overrides: [String: String] = [:]) throws -> StackOptions {
        var options = StackOptions(overrides)
        options.configuration = try StackConfiguration.example("integer-ids")
        return options
    }

    /// The way in which a gateway resolves a creation whose answer it never got.
    package enum LostAnswers: String, Sendable {
        /// It asks again under the same idempotency key.
        case key
        /// It looks for the client's id in the stream.
        case reference
    }

    /// Creates the same with one of the two ways for all tables; the example has both.
    package static func integerIDs(
        finding means: LostAnswers, _ overrides: [String: String] = [:]
    ) throws -> StackOptions {
        var options = try integerIDs(overrides)
        var text = options.configuration ?? ""
        switch means {
        case .key: text = text.replacing(" ref clientId", with: "").replacing(#","clientId":"{id}""#, with: "")
        case .reference:
            text = text.replacing("idempotency_header = Idempotency-Key\n", with: "").replacing(
                "create = POST /folders returns id",
                with: #"""
                    create = POST /folders returns id ref clientId
                      body {"name":"{name}","parentId":"{parent_id}","clientId":"{id}"}
                    """#)
        }
        options.configuration = text
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
