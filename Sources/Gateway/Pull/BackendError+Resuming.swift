// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend

extension BackendError {
    /// Whether a stream that ended with this error is taken up again within the same pull.
    ///
    /// A backend that asks for a longer pause than a client waits gets it: the client hears when to come back.
    var isWorthResuming: Bool {
        if case .busy(_, let retryAfter) = self, let retryAfter, retryAfter > .seconds(1) { return false }
        return isTransient
    }
}
