// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// What a stream push came to.
package enum StreamPushResult: Hashable, Sendable {
    /// A record that the backend refuses.
    package struct Refused: Hashable, Sendable {
        /// Which line of the request, from 0 on; nil where the backend does not say.
        package var line: Int?
        /// The client's name of the table, as the backend repeats it.
        package var table: String?
        /// The record's id, as the backend repeats it.
        package var id: String?
        /// What the backend says, cut; for the log at debug only.
        package var message: String?
        /// A refused record.
        package init(line: Int?, table: String?, id: String?, message: String?) {
            self.line = line
            self.table = table
            self.id = id
            self.message = message
        }
    }

    /// Every operation is applied, in one transaction.
    case applied
    /// Nothing is applied: somebody else has changed these records (409).
    case conflict([Refused])
    /// Nothing is applied: these records will never be taken as they are (422).
    case rejected([Refused])
    /// Nobody knows; the same push with the same key may be sent again.
    case unknown(BackendError.Summary)
}

extension BackendError {
    /// An error as far as it can be compared: its code and its sentence.
    package struct Summary: Hashable, Sendable {
        /// The stable code.
        package var code: String
        /// The sentence for the log.
        package var text: String
        /// The code and sentence of an error.
        package init(_ error: BackendError) {
            code = error.code
            text = error.description
        }
    }
}
