// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A line or record that could not be delivered, kept for the operator.
package struct QuarantinedLine: Hashable, Sendable {
    /// What is wrong with it; the raw value is the stable code in log and state.
    package enum Reason: String, CaseIterable, Sendable {
        /// Not JSON by RFC 8259.
        case invalidJSON = "line.invalid_json"
        /// Not UTF-8.
        case invalidUTF8 = "line.invalid_utf8"
        /// Longer than `[pull] max_line`.
        case tooLong = "line.too_long"
        /// Nested deeper than `[limits] json_depth`.
        case tooDeep = "line.too_deep"
        /// A whole value that is no object, such as an array of lines.
        case notAnObject = "line.not_an_object"
        /// Without type or data where they are needed.
        case noEnvelope = "line.no_envelope"
        /// A record without an id.
        case noID = "record.no_id"
        /// An id that clients cannot hold.
        case unsafeID = "record.unsafe_id"
        /// Data of a type that cannot be a record.
        case notARecord = "record.not_an_object"
    }

    /// What is wrong.
    package var reason: Reason
    /// The line's type, as far as it could be read.
    package var type: String?
    /// The namespace of its token, as far as it could be read.
    package var namespace: String?
    /// The client's table, where the type is mapped.
    package var table: String?
    /// The record's id, as far as it could be read.
    package var id: String?
    /// The bytes that are kept: none, a part or all, by `[pull] quarantine_keep`.
    package var bytes: [UInt8]

    /// A line that is set aside.
    package init(
        reason: Reason, type: String? = nil, namespace: String? = nil, table: String? = nil, id: String? = nil,
        bytes: [UInt8] = []
    ) {
        self.reason = reason
        self.type = type
        self.namespace = namespace
        self.table = table
        self.id = id
        self.bytes = bytes
    }
}
