// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import JSONBytes
package import SyncModel

/// Turns the lines of one stream into records of the client, byte by byte.
///
/// A line is scanned once, which validates all of it; only then is anything written, so that a bad line leaves no trace
/// in the output. It keeps the newest token of every namespace and counts what it meets, in memory that does not grow.
package struct LineProjector: Sendable {
    /// The compiled mapping from lines to records.
    package let projection: Projection
    /// The key of ``IDHash``.
    package let key: SipHash.Key
    /// The counts of lines and values so far.
    package internal(set) var counters: ProjectionCounters
    /// The facts about the line that was quarantined last; its bytes are for the caller to add.
    package internal(set) var quarantined: QuarantinedLine?
    /// The mapping of the last ``LineResult/idMapping`` line.
    package internal(set) var idMapping: IDMapping?
    /// The token of the reset that was demanded, which is acknowledged alone and is in no vector.
    package internal(set) var resetToken: String?
    /// True if records are hashed and their links digested; a pull without a ledger saves the cost.
    package var needsContent = true
    /// The hash of the last record as the client has it; 0 if none is needed.
    ///
    /// The same values in any other spelling and order have the same hash, and defaults count as if they were absent.
    package internal(set) var content: UInt64 = 0
    /// The digests of the last record's links, in the order of `Table.links`; empty if none are needed.
    ///
    /// A link that names no record is 0. A link has its digest even if the client's schema version lacks the column.
    /// The next line overwrites the digests.
    package internal(set) var links: [UInt64] = []
    /// True if a default stands in the last record for a value that its column could not have.
    package internal(set) var isDefaulted = false
    /// The first values of each column that it could not have; all are counted.
    package internal(set) var unreadable = UnreadableValues()
    /// True if the last record has a value in a column of ``watch(_:)`` that is not the column's default.
    package internal(set) var bringsWatched = false
    /// The length in bytes of the last record's id, which the output has without escapes.
    package internal(set) var idLength = 0
    /// The ids by which the client knows records with an id from the backend; nil if the backend has given none.
    package var aliases: IDAliases?
    /// The observer that notes the outcome of every column, for `rind check --sample`; nil to note none.
    package var observer: ProjectionObserver?

    var tokens = TokenTable()
    /// True if the last line had a token.
    package internal(set) var hasToken = false
    /// True if that token was a number.
    package internal(set) var isTokenNumber = false
    /// The type of the last line, if the configuration does not name it.
    private var unknownType: String?
    /// The index of the last line's shape.
    var lastShape = 0
    /// True if a line of this request had it.
    var hasShape = false
    /// The members of the envelopes before, and of the data before by shape.
    var envelopePattern = MemberPattern()
    var patterns: [MemberPattern]
    /// The buffer in which composite ids and ids with escapes are put together.
    var idBuffer: [UInt8] = []
    var hasher: ContentHasher
    let constants: [ConstantContent]
    /// A flag for each column, by its index among the counters, that is true if it is watched; empty if none is.
    var watched: [Bool] = []

    /// Creates a projector that stands before the first line of a stream.
    package init(_ projection: Projection, key: SipHash.Key) {
        self.projection = projection
        self.key = key
        counters = ProjectionCounters(projection)
        patterns = Array(repeating: MemberPattern(), count: projection.shapes.count)
        var hasher = ContentHasher(projection.content.identities, key: key)
        constants = projection.content.constants.map { ConstantContent($0, &hasher, key: key) }
        self.hasher = hasher
    }

    /// The newest token of every namespace that came in this request; merge it into the vector that was asked from.
    package var receivedTokens: CheckpointVector { tokens.vector }

    /// Forgets the tokens of an earlier request, which do not tell how far a later one has got.
    package mutating func beginRequest() {
        tokens.removeAll()
        (hasToken, hasShape, unknownType) = (false, false, nil)
    }

    /// The number of the namespace of the last line's token in this request; below -1 without a token.
    package var namespaceNumber: Int { hasToken ? tokens.current : -2 }

    /// The token of the last line; nil if the line had none, and for a reset.
    package var lastCheckpoint: Checkpoint? { hasToken ? tokens.checkpoint(at: tokens.current) : nil }

    /// The type of the last line of this request that had one.
    package var lastType: String? { unknownType ?? (hasShape ? projection.shapes[lastShape].type : nil) }

    /// Reads one line and writes the record, id or value that the client gets from it.
    ///
    /// - Parameters:
    ///   - line: A line without its end. A byte order mark before it is skipped.
    ///   - output: The writer for the record, id or value if the result has a range; otherwise it stays unchanged.
    /// - Returns: The kind of the line. Lines never fail: a line that cannot be read is quarantined.
    package mutating func project(_ line: UnsafeRawBufferPointer, into output: inout JSONWriter) -> LineResult {
        counters.lines &+= 1
        hasToken = false
        if unknownType != nil { unknownType = nil }
        let line = JSONScanner.hasByteOrderMark(line) ? UnsafeRawBufferPointer(rebasing: line.dropFirst(3)) : line
        // Taken once: a reference that is read in a value that changes is counted at each use.
        let projection = projection
        return withUnsafeTemporaryAllocation(of: JSONSlice?.self, capacity: projection.slotCount) { slots in
            slots.initialize(repeating: nil)
            var envelope = Envelope()
            do throws(JSONError) {
                try readEnvelope(of: line, by: projection, slots, into: &envelope)
                return deliver(envelope, of: line, by: projection, slots: slots, to: &output)
            } catch {
                return quarantineUnreadable(line, envelope, slots: slots, error: error)
            }
        }
    }

    /// Processes a line of which every byte has been validated.
    private mutating func deliver(
        _ envelope: Envelope, of line: UnsafeRawBufferPointer, by projection: Projection, slots: Slots,
        to output: inout JSONWriter
    ) -> LineResult {
        guard let type = envelope.type, type.kind == .string else {
            return quarantine(envelope.isOther ? .notAnObject : .noEnvelope, type: nil, shape: nil)
        }
        let shapeIndex = envelope.shape
        guard shapeIndex >= 0 else {
            noteToken(envelope.ack, of: type)
            counters.countUnknown(type)
            unknownType = type.withText { String(decoding: $0.prefix(256), as: UTF8.self) }
            return .unknownType
        }
        // Not counted, since the projection, which the caller holds, keeps its shapes.
        unowned(unsafe) let shape = projection.shapes[shapeIndex]
        counters.linesByShape[shapeIndex] &+= 1
        if case .reset = shape.role {
            resetToken = envelope.ack?.tokenText
            return .reset
        }
        noteToken(envelope.ack, of: type)
        switch shape.role {
        case .complete: return .complete
        case .ackOnly, .reset: return .ackOnly
        case .upsert, .delete, .deleteWhere, .idMap: break
        }
        guard envelope.dataKind == .object else {
            let isMissing = envelope.dataKind == nil || envelope.dataKind == .null
            return quarantine(isMissing ? .noEnvelope : .notARecord, type: shape.type, shape: shape)
        }
        // The type came after the data, or a second type changed it: the data is read again.
        if envelope.dataShape != shapeIndex { reread(line, data: envelope.data, as: shapeIndex, slots: slots) }
        return write(shape, slots, to: &output)
    }

    private mutating func noteToken(_ ack: JSONSlice?, of type: JSONSlice) {
        guard let ack, ack.isToken else { return }
        hasToken = true
        isTokenNumber = ack.kind == .number
        type.withText { type in
            ack.withTokenText { token in tokens.advance(to: token, lineType: type) }
        }
        if tokens.current < 0 { hasToken = false }
    }
}

extension JSONSlice {
    /// True if the value can be an ack token: a text that is not empty, or an integer.
    var isToken: Bool { kind == .string ? !isEmptyString : isInteger }

    func withTokenText<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
        kind == .string ? withText(body) : body(bytes)
    }

    var tokenText: String? {
        guard isToken else { return nil }
        return withTokenText { String(decoding: $0, as: UTF8.self) }
    }
}
