// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A line or record that could not be delivered, kept for the operator.
package struct QuarantinedLine: Hashable, Sendable {
    /// The reason why a line is in quarantine; the raw value is the stable code in log and state.
    package enum Reason: String, CaseIterable, Sendable {
        /// Not JSON by RFC 8259.
        case invalidJSON = "line.invalid_json"
        /// Not UTF-8.
        case invalidUTF8 = "line.invalid_utf8"
        /// Longer than `[pull] max_line`.
        case tooLong = "line.too_long"
        /// Nested deeper than `[limits] json_depth`.
        case tooDeep = "line.too_deep"
        /// A complete value that is not an object, such as an array of lines.
        case notAnObject = "line.not_an_object"
        /// An object without a required type or data.
        case noEnvelope = "line.no_envelope"
        /// A record without an id.
        case noID = "record.no_id"
        /// An id that clients cannot store.
        case unsafeID = "record.unsafe_id"
        /// A value that its column could not have: the record went out with the column's default.
        ///
        /// Its bytes describe the value: column and shape.
        case unreadableValue = "record.unreadable_value"
        /// Data of a type that cannot be a record.
        case notARecord = "record.not_an_object"

        /// The code of a line whose record went out all the same: such entries give way if the quarantine is full.
        package static let delivered = unreadableValue.rawValue

        /// True if the record went out all the same.
        package var isDelivered: Bool { rawValue == Self.delivered }
    }

    /// The reason why the line is in quarantine.
    package var reason: Reason
    /// The line's type, if it could be read.
    package var type: String?
    /// The namespace of the line's token, if it could be read.
    package var namespace: String?
    /// The client's table, if the type is mapped.
    package var table: String?
    /// The record's id, if it could be read.
    package var id: String?
    /// The bytes that are kept: none, a part or all, by `[pull] quarantine_keep`.
    package var bytes: [UInt8]

    /// Creates a quarantined line.
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
