// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import StateStore
import SyncModel

extension RefusedOperation {
    /// The reason of the refusal: the code, the call, and the backend's sentence.
    var explanation: String {
        ([reason.code] + [call, reason.message].compactMap { $0 }).joined(separator: ", ")
    }
}

extension RefusalEntry {
    /// The members that the commands print.
    var json: JSONValue {
        .object([
            "table": .string(operation.key.table), "record": .string(operation.key.id),
            "change": .string(operation.kind.rawValue), "call": .string(operation.call),
            "code": .string(operation.reason.code), "status": .integer(operation.reason.status.map(Int64.init)),
            "message": .string(operation.reason.message), "count": .integer(count), "first_at": .moment(firstAt),
            "last_at": .moment(lastAt),
        ])
    }
}
