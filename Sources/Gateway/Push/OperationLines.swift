// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Backend
import Curl
import JSONBytes
import NIOCore
import SyncMachines
import SyncModel

/// Makes the lines of a stream push (`docs/BACKEND-PROTOCOL.md`), batch by batch.
struct OperationLines: AsyncSequence, Sendable {
    typealias Element = ByteBuffer
    typealias Failure = any Error

    /// The number of bytes of lines that are gathered before they are sent.
    private static let batchSize = 64 << 10
    /// The number of bytes of lines that are kept until they are sent.
    private static let keptSize = 1 << 20

    let operations: [PushOperation]
    let reader: OperationReader
    /// The checkpoint vector that the client knew, for the `base` of each line.
    let base: CheckpointVector?
    /// The namespace of the tokens that stand for everything up to them.
    let completeNamespace: String

    /// Returns the lines as a body whose length is known, because many servers read nothing of any other.
    ///
    /// Few lines are kept. Many are made twice: now, to know their length, and while they are sent.
    func body() throws -> CurlRequest.Body {
        var lines = makeAsyncIterator()
        var kept = ByteBuffer()
        var length = 0
        while let batch = try lines.nextBatch() {
            length += batch.readableBytes
            if length <= Self.keptSize { kept.writeImmutableBuffer(batch) } else { kept = ByteBuffer() }
        }
        return length <= Self.keptSize ? .bytes(kept) : .sequence(self, length: Int64(length))
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(lines: self, rest: operations[...]) }

    struct AsyncIterator: AsyncIteratorProtocol {
        typealias Element = ByteBuffer
        typealias Failure = any Error

        let lines: OperationLines
        var rest: ArraySlice<PushOperation>

        mutating func next(isolation actor: isolated (any Actor)?) async throws -> ByteBuffer? { try nextBatch() }

        mutating func next() async throws -> ByteBuffer? { try nextBatch() }

        mutating func nextBatch() throws -> ByteBuffer? {
            guard !rest.isEmpty else { return nil }
            var batch = ByteBuffer()
            while batch.readableBytes < OperationLines.batchSize, let operation = rest.popFirst() {
                try lines.line(of: operation).append(to: &batch)
            }
            return batch
        }
    }

    private func line(of operation: PushOperation) throws -> StreamPushOperation {
        let content = try reader.content(of: operation)
        var key = JSONValue.object([])
        for part in content.key { key.set(part.value, at: part.path.steps[...]) }
        return StreamPushOperation(
            content.kind(operation), table: content.table.name, id: content.id.idText ?? operation.id,
            key: key.members ?? [],
            data: content.update?.data.serialised, base: token(of: content.table))
    }

    /// Returns the token up to which the client had seen everything of the table: that of its only upsert namespace
    /// with a token.
    ///
    /// If several namespaces have one, it is unknown which of them brought the record; if none has, the client may have
    /// created the record itself. In both cases the complete token of the client's last pull covers all namespaces.
    /// Versions do not matter: the vector has those of the pull, while a push seldom has a schema version.
    private func token(of table: Table) -> String? {
        guard let base, table.conflicts == .backend else { return nil }
        let tokens = table.upserts.compactMap { base[$0] }
        return tokens.count == 1 ? tokens[0] : base[completeNamespace] ?? tokens.first
    }
}
