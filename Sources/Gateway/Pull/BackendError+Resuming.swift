// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend

extension BackendError {
    /// Returns true if a stream that ended with this error is resumed within the same pull.
    ///
    /// A backend that asks for a pause of more than a second gets it: the pull fails, and the client is told when to
    /// come back. One that is down is waited for only if it has sent something in this pull, which would be lost.
    func isWorthResuming(hasLines: Bool) -> Bool {
        if let retryAfter, retryAfter > .seconds(1) { return false }
        return isTransient && (hasLines || !isDown)
    }
}
