// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

extension PostgresMigration {
    /// Adds the time up to which a principal's cursors are distrusted.
    static let distrust = ["ALTER TABLE principal ADD COLUMN distrusted_at bigint NOT NULL DEFAULT 0"]
}
