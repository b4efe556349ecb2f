// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import StateStore
import SyncModel

// What a record is called, by whom.
extension WhyReport {
    /// The state's knowledge of the requested id.
    var idSentences: [String] {
        finding.mappings.map { stored in
            let mapping = stored.mapping
            if mapping.clientID == id {
                let beside = "; another device has made the same record, and pulls say its id"
                return "The backend calls it \(mapping.backendID)\(stored.isPublic ? "." : beside + ".")"
            }
            guard !finding.isKept else {
                return
                    "A client has made it as \(mapping.clientID), but this device had got it as \(id) before that was "
                    + "known, and goes on calling it so."
            }
            return "That is the backend's id: pulls call it \(mapping.clientID), as the client that has made it does."
        }
    }
}
