// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore

extension SchemaMigration {
    /// Adds what a principal with a scope was made from, for operators only: nothing that clients see depends on it.
    static let scopes = """
        ALTER TABLE principal ADD COLUMN user_digest TEXT;
        ALTER TABLE principal ADD COLUMN scope TEXT;
        CREATE INDEX principal_user ON principal (user_digest) WHERE user_digest IS NOT NULL;
        """
}
