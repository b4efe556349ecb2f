// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Logging

extension Logger {
    /// Tells that the state could not take what follows from a push that the backend has answered.
    ///
    /// The push ends as the backend has said: its client must not hear of a failure after the fact. `docs/ERRORS.md`
    /// says under `push.not_recorded` what each of these costs.
    func notWritten(_ message: Logger.Message, _ error: any Error) {
        self.error(message, metadata: ["code": "push.not_recorded", "error": "\(error)"])
    }
}
