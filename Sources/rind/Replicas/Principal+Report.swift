// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import SyncModel

extension Principal {
    /// The scope for a cell of a list, cut, since clients state it; empty if there is none.
    var shownScope: String { scope?.shown(upTo: 100) ?? "" }

    /// The lines of a report that say whom it is about.
    var lines: [String] {
        let own = ["principal".padded(to: 12) + description]
        guard let scope else { return own }
        return own + ["scope".padded(to: 12) + scope.shown(upTo: 1_000), "user".padded(to: 12) + user.description]
    }

    /// The members of a JSON report that say whom it is about.
    var members: [JSONValue.Member] {
        [
            .init("principal", .string(description)), .init("user", .string(user.description)),
            .init("scope", .string(scope)),
        ]
    }
}
