// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB
import StateProbes
import StateStore

extension SQLiteStateStore {
    /// Checks for room on the disk, then commits a counter that has no other use.
    ///
    /// The commit alone proves too little: a small one may still fit into the room that the log already has.
    package func checkWriting(within limit: Duration) async throws {
        try await probe.result(within: limit) { end in
            beginWriting({ [file] db in
                try file.checkRoom()
                try db.run(
                    "INSERT INTO meta (key, value) VALUES ('probe', 1) ON CONFLICT (key) DO UPDATE SET value = value + 1"
                )
            }) { result in
                switch result {
                case .success: end(nil)
                case .failure(let error): end(error as? StateError ?? .failed("\(type(of: error))"))
                }
            }
        }
    }
}
