// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import JSONBytes
import SyncEngine
import SyncModel

/// An id that is empty or too long, under which a backend has created a record.
struct UnfitID: Error, CustomStringConvertible {
    let bytes: Int

    var description: String { "an id of \(bytes) bytes" }
}

extension OperationReader.Content {
    /// What the backend calls a record that it has created; nil where that is the client's id.
    ///
    /// Ids of several parts are put together as those of streamed records, whatever an answer says.
    ///
    /// - Parameters:
    ///   - returned: What the answer calls it.
    ///   - operation: What was sent.
    /// - Returns: The mapping.
    /// - Throws: ``UnfitID``.
    func mapping(_ returned: String?, _ operation: PushOperation) throws(UnfitID) -> IDMapping? {
        let isComposite = paths.count > 1
        if isComposite, key.count < paths.count { return nil }
        let parts = key.compactMap { $0.value.idText }
        let id = isComposite ? parts.count == key.count ? RecordID.joining(parts) : nil : returned
        guard let id, id != operation.id else { return nil }
        for id in [id, operation.id] where !(1...RecordID.maximumLength).contains(id.utf8.count) {
            throw UnfitID(bytes: id.utf8.count)
        }
        return IDMapping(table: table.name, clientID: operation.id, backendID: id)
    }
}
