// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import JSONBytes
package import NIOCore
package import SyncModel

/// One line of a stream push: the operation on one record.
package struct StreamPushOperation: Hashable, Sendable {
    /// The kind of the operation.
    package var kind: OperationKind
    /// The client's table.
    package var table: String
    /// The record's id as one text.
    package var id: String
    /// The parts of the id under the names that the backend uses.
    package var key: [JSONValue.Member]
    /// The record as a JSON object's text; nil for a delete.
    package var data: [UInt8]?
    /// The checkpoint token that the client's state is based on, for a backend that checks for conflicts.
    package var base: String?

    /// Creates an operation; `data` must be a valid JSON object.
    package init(
        _ kind: OperationKind, table: String, id: String, key: [JSONValue.Member], data: [UInt8]? = nil,
        base: String? = nil
    ) {
        self.kind = kind
        self.table = table
        self.id = id
        self.key = key
        self.data = data
        self.base = base
    }

    /// Appends the operation as one line, with its line break.
    package func append(to buffer: inout ByteBuffer) {
        var writer = JSONWriter(capacity: 128 + (data?.count ?? 0))
        writer.append(raw: #"{"op":""#)
        writer.append(raw: Array(kind.rawValue.utf8))
        writer.append(raw: #"","table":"#)
        writer.append(string: table)
        writer.append(raw: #","id":"#)
        writer.append(string: id)
        writer.append(raw: #","key":"#)
        writer.append(.object(key))
        if let data {
            writer.append(raw: #","data":"#)
            // White space between the tokens may hold line breaks, which would end the line.
            writer.append(raw: data.map { $0 == 10 || $0 == 13 ? 32 : $0 })
        }
        if let base {
            writer.append(raw: #","base":"#)
            writer.append(string: base)
        }
        writer.append(raw: "}\n")
        buffer.writeBytes(writer.bytes)
    }
}

/// The backend's result for one line of a stream push.
package struct StreamPushLine: Hashable, Sendable {
    /// The outcome of a line.
    package enum Outcome: String, CaseIterable, Sendable {
        case ok
        /// The record has been changed by someone else since `base`.
        case conflict
        /// The backend will never accept it.
        case rejected
        /// The update is for a record that does not exist.
        case missing
    }

    /// The number of the line, counted from 0.
    package var line: Int
    /// The outcome of the line.
    package var outcome: Outcome
    /// The backend's own id of a created record, or the id of a refused one.
    package var id: String?
    /// The table of a refused line.
    package var table: String?
    /// The backend's sentence on a refusal, cut; for the log, never for a client.
    package var message: String?

    /// Creates the result for a line.
    package init(line: Int, outcome: Outcome, id: String? = nil, table: String? = nil, message: String? = nil) {
        self.line = line
        self.outcome = outcome
        self.id = id
        self.table = table
        self.message = message
    }
}

/// The outcome of a stream push.
package enum StreamPushResult: Hashable, Sendable {
    /// All operations were applied, in one transaction.
    case applied([StreamPushLine])
    /// No operation was applied, because of these lines, at least one.
    case refused([StreamPushLine])
}
