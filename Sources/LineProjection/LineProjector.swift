// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import JSONBytes
package import SyncModel

/// Turns the lines of one stream into records of the client, byte by byte.
///
/// A line is scanned once, which validates all of it; only then is anything written, so that a bad line leaves no
/// trace in the output. The projector also keeps the newest token of every namespace and counts what it meets. What it
/// holds does not grow with the stream.
package struct LineProjector: Sendable {
    /// The mapping.
    package let projection: Projection
    /// The key of ``IDHash``.
    package let key: SipHash.Key
    /// What has been met so far.
    package internal(set) var counters: ProjectionCounters
    /// What is known of the line that was quarantined last; its bytes are for the caller to add.
    package internal(set) var quarantined: QuarantinedLine?
    /// What the last line of ``LineResult/idMapping`` said.
    package internal(set) var idMapping: IDMapping?
    /// The token of the reset that was demanded, which is acknowledged alone and is in no vector.
    package internal(set) var resetToken: String?
    /// Whether records are hashed and their links digested; what has no ledger need not pay for it.
    package var needsContent = true
    /// The hash of the last record as the client has it; 0 where none is needed.
    ///
    /// It is that of a record with the same values in any other spelling and order, and columns that have their
    /// defaults count as if they were not there.
    package internal(set) var content: UInt64 = 0
    /// The digests of the last record's links, in the order of `Table.links` and 0 where a link names nothing; empty
    /// where none are needed.
    ///
    /// A link has its digest even where the client's schema version lacks the column. The next line writes over them.
    package internal(set) var links: [UInt64] = []
    /// Whether the last record has something in a column of ``watch(_:)`` that is not the column's default.
    package internal(set) var bringsWatched = false
    /// The length in bytes of the last record's id, which stands in the output without escapes.
    package internal(set) var idLength = 0
    /// By which ids the client knows records to which the backend has given ids; nil where it has given none.
    package var aliases: IDAliases?
    /// Notes what comes of every column, for `rind check --sample`; nil does not.
    package var observer: ProjectionObserver?

    var tokens = TokenTable()
    /// True if the last line had a token.
    package internal(set) var hasToken = false
    /// True if that token was a number.
    package internal(set) var isTokenNumber = false
    /// The type of the last line where the configuration does not name it.
    private var unknownType: String?
    /// The place of the last line's shape.
    var lastShape = 0
    /// Where composite ids and ids with escapes are put together.
    var idBuffer: [UInt8] = []
    var hasher: ContentHasher
    let constants: [ConstantContent]
    /// Whether a column is watched, by its place among the counters; empty where none is.
    var watched: [Bool] = []

    /// A projector before the first line of a stream.
    package init(_ projection: Projection, key: SipHash.Key) {
        self.projection = projection
        self.key = key
        counters = ProjectionCounters(projection)
        var hasher = ContentHasher(projection.content.identities, key: key)
        constants = projection.content.constants.map { ConstantContent($0, &hasher, key: key) }
        self.hasher = hasher
    }

    /// The newest token of every namespace that came in this request; merge it into the vector that was asked from.
    package var receivedTokens: CheckpointVector { tokens.vector }

    /// Forgets the tokens of an earlier request, which say nothing of where a later one has got to.
    package mutating func beginRequest() {
        tokens.removeAll()
        hasToken = false
    }

    /// The token of the last line; nil where it had none, and for a reset.
    package var lastCheckpoint: Checkpoint? { hasToken ? tokens.checkpoint(at: tokens.current) : nil }

    /// The type of the last line that had one.
    package var lastType: String? {
        unknownType ?? (projection.shapes.indices.contains(lastShape) ? projection.shapes[lastShape].type : nil)
    }

    /// How many tokens were dropped because they were too long or named too many namespaces.
    package var droppedTokens: Int { tokens.dropped }

    /// Reads one line and writes what it is to the client.
    ///
    /// - Parameters:
    ///   - line: A line without its end. A byte order mark before it is skipped.
    ///   - output: Takes the record, id or value, where the result has a range; otherwise it is left as it is.
    /// - Returns: What the line is. Lines never fail: what cannot be read is quarantined.
    package mutating func project(_ line: UnsafeRawBufferPointer, into output: inout JSONWriter) -> LineResult {
        counters.lines &+= 1
        hasToken = false
        if unknownType != nil { unknownType = nil }
        let line = JSONScanner.hasByteOrderMark(line) ? UnsafeRawBufferPointer(rebasing: line.dropFirst(3)) : line
        return withUnsafeTemporaryAllocation(of: JSONSlice?.self, capacity: projection.slotCount) { slots in
            slots.initialize(repeating: nil)
            var envelope = Envelope()
            do throws(JSONError) {
                try readEnvelope(of: line, slots, into: &envelope)
                return deliver(envelope, line: line, slots: slots, to: &output)
            } catch {
                return quarantineUnreadable(line, envelope, slots: slots, error: error)
            }
        }
    }

    /// Goes on with a line whose every byte has been validated.
    private mutating func deliver(
        _ envelope: Envelope, line: UnsafeRawBufferPointer, slots: UnsafeMutableBufferPointer<JSONSlice?>,
        to output: inout JSONWriter
    ) -> LineResult {
        guard let type = envelope.type, type.kind == .string else {
            return quarantine(envelope.isOther ? .notAnObject : .noEnvelope, type: nil, shape: nil)
        }
        let place = envelope.shape
        guard place >= 0 else {
            noteToken(envelope.ack, of: type)
            counters.countUnknown(type)
            unknownType = type.withText { String(decoding: $0.prefix(256), as: UTF8.self) }
            return .unknownType
        }
        let shape = projection.shapes[place]
        counters.linesByShape[place] &+= 1
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
        // The type came after the data, or a second type changed it: the data is looked at again.
        if envelope.dataShape != place { reread(line, data: envelope.data, shape, slots: slots) }
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
    /// Whether it can be an ack token: a text that is not empty, or an integer.
    var isToken: Bool { kind == .string ? !isEmptyString : isInteger }

    func withTokenText<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
        kind == .string ? withText(body) : body(bytes)
    }

    var tokenText: String? {
        guard isToken else { return nil }
        return withTokenText { String(decoding: $0, as: UTF8.self) }
    }
}
