// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import LineProjection
import NIOConcurrencyHelpers
import SyncModel

/// Caches the compiled mapping of each schema version that clients have had.
final class ProjectionCache: Sendable {
    private let schema: Schema
    private let rules: EnvelopeRules
    private let projections = NIOLockedValueBox<[Int: Projection]>([:])

    init(schema: Schema, rules: EnvelopeRules) {
        self.schema = schema
        self.rules = rules
    }

    /// Returns the mapping for clients of a version that changes something (``Schema/versions``).
    func projection(at schemaVersion: Int) -> Projection {
        projections.withLockedValue { projections in
            if let projection = projections[schemaVersion] { return projection }
            let projection = Projection(schema: schema, schemaVersion: schemaVersion, rules: rules)
            projections[schemaVersion] = projection
            return projection
        }
    }
}
