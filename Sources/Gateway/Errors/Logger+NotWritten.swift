// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Logging

extension Logger {
    /// Logs that the state could not record the consequences of a push that the backend has answered.
    ///
    /// The push ends as the backend has answered: its client must not get an error after the fact. `docs/ERRORS.md`
    /// lists under `push.not_recorded` the cost of each failure.
    func notWritten(_ message: Logger.Message, _ error: any Error) {
        self.error(message, metadata: ["code": "push.not_recorded", "error": "\(error)"])
    }
}
