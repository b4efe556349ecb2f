// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore

extension SchemaMigration {
    /// Adds the time up to which a principal's cursors are distrusted.
    ///
    /// From this version on, ledgers have entries with the content of before a push (chunk kind 7).
    static let distrust = "ALTER TABLE principal ADD COLUMN distrusted_at INTEGER NOT NULL DEFAULT 0;"
}
