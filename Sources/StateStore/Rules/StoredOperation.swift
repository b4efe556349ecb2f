// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

/// An operation of a journal, as its row keeps it.
struct StoredOperation: Coded {
    var operation = InFlightOperation(index: 0, kind: .create, record: PushedRecordKey())
    /// True if its request was repeated in vain for too long.
    var isGivenUp = false

    mutating func code(with coder: inout Coder) throws(StateError) {
        try coder.code(&operation.index)
        try coder.code(raw: &operation.kind)
        try coder.code(&operation.record, &operation.makesID)
        try coder.code(&operation.request)
        try coder.code(&operation.sought)
        try coder.code(&isGivenUp)
    }
}

extension PushedRecordKey: Coded {
    package init() { self.init(table: "", id: "") }

    package mutating func code(with coder: inout Coder) throws(StateError) {
        try coder.code(&table, &id)
    }
}

extension InFlightOperation.Request: Coded {
    package init() { self.init(method: "", target: "", body: nil, key: "") }

    package mutating func code(with coder: inout Coder) throws(StateError) {
        try coder.code(&method, &target)
        try coder.code(&body)
        try coder.code(&key)
    }
}

extension PushJournal.Failure: Coded {
    package init() { self.init(code: "") }

    package mutating func code(with coder: inout Coder) throws(StateError) {
        try coder.code(&code, &message, &record)
    }
}

extension QuarantinedOperation.Reason: Coded {
    package init() { self.init(code: "") }

    package mutating func code(with coder: inout Coder) throws(StateError) {
        try coder.code(&code, &status, &message)
    }
}
