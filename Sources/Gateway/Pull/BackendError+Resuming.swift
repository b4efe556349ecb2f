// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend

extension BackendError {
    /// True if a stream that ended with this error is resumed within the same pull.
    ///
    /// A backend that asks for a pause of more than a second gets it: the pull fails, and the client is told when to
    /// come back.
    var isWorthResuming: Bool {
        if let retryAfter, retryAfter > .seconds(1) { return false }
        return isTransient
    }
}
