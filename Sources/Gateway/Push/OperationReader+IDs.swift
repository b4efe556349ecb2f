// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import JSONBytes
import SyncModel

/// Reports that a backend has created a record under an id that is empty or too long.
struct UnfitID: Error, CustomStringConvertible {
    let bytes: Int

    var description: String { "an id of \(bytes) bytes" }
}

extension OperationReader.Content {
    /// Returns the mapping to the backend's id of a record that the backend has taken; nil if that is the client's id.
    ///
    /// An update may have created a record, too: the backend may not have had what the client takes for synced. Ids of
    /// several parts are composed like those of streamed records, whatever id an answer has.
    ///
    /// - Parameters:
    ///   - returned: The id in the answer.
    ///   - operation: The operation that was sent.
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
        return IDMapping(
            table: table.name, clientID: operation.id, backendID: id, mayBeBackends: mayBeBackends(operation))
    }

    /// Returns true if the operation's id, which was sent unchanged, may be one that the backend had given to a record
    /// that it no longer has.
    private func mayBeBackends(_ operation: PushOperation) -> Bool {
        guard treatment == .send(.update), self.id.idText == operation.id else { return false }
        return paths.count == 1 || RecordID.parts(of: operation.id, count: paths.count) != nil
    }
}

extension OperationReader {
    /// Learns the ids in a stream push's answer, line by line, parents before the records that refer to them: a
    /// composite id contains theirs.
    ///
    /// - Parameters:
    ///   - returned: The ids in the answer, by the indices of the operations.
    ///   - operations: The operations that were sent.
    /// - Returns: The new mappings, and the errors of ids that cannot be kept: the backend has taken all operations, so
    ///   one line must not cost the others their ids.
    mutating func learn(
        _ returned: [Int: String], _ operations: [PushOperation]
    ) -> (mappings: [IDMapping], unfit: [any Error]) {
        var (mappings, unfit) = ([IDMapping](), [any Error]())
        for (index, operation) in operations.enumerated() where operation.kind != .delete {
            do {
                let content = try content(of: operation)
                guard content.table.hasOwnIDs, case .send = content.treatment,
                    let mapping = try content.mapping(returned[index], operation),
                    mapping.backendID != ids.backendID(of: PushReference(table: operation.table, id: operation.id))
                else { continue }
                ids.learn(mapping)
                mappings.append(mapping)
            } catch {
                unfit.append(error)
            }
        }
        return (mappings, unfit)
    }
}
