// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import SyncModel

extension LineProjector {
    /// Quarantines a line that the splitter did not keep because it was too long.
    ///
    /// - Parameters:
    ///   - head: The line's first bytes, in which its type and the record's id are looked for.
    ///   - tail: The line's last bytes, in which its token is looked for.
    /// - Returns: The result `quarantined(.tooLong, …)`, always.
    package mutating func projectTooLong(head: UnsafeRawBufferPointer, tail: UnsafeRawBufferPointer) -> LineResult {
        counters.lines &+= 1
        hasToken = false
        return withUnsafeTemporaryAllocation(of: JSONSlice?.self, capacity: projection.slotCount) { slots in
            slots.initialize(repeating: nil)
            var envelope = Envelope()
            // The scan is certain to fail, since the head is not all of the line; the values read before are wanted.
            do throws(JSONError) { try readEnvelope(of: head, by: projection, slots, into: &envelope) } catch {}
            adopt(LenientEnvelope.token(at: tail, whole: nil, rules: projection.rules), type: envelope.type?.string)
            return quarantine(.tooLong, beginningOf: head, envelope, slots: slots, otherText: tail)
        }
    }

    /// Quarantines a line that is not JSON; the envelope and the slots hold the values that could be read.
    ///
    /// The line's token still counts if it can be read without doubt, because the line does not come a second time.
    mutating func quarantineUnreadable(
        _ line: UnsafeRawBufferPointer, _ envelope: Envelope, slots: Slots, error: JSONError
    ) -> LineResult {
        let reason: QuarantinedLine.Reason =
            switch error.code {
            case .invalidUTF8: .invalidUTF8
            case .tooDeep: .tooDeep
            case .tooLarge: .tooLong
            default: .invalidJSON
            }
        let token = LenientEnvelope.token(at: line, whole: line, rules: projection.rules)
        adopt(token, type: envelope.type?.string)
        return quarantine(reason, beginningOf: line, envelope, slots: slots)
    }

    /// Quarantines a line of which only the beginning could be read.
    private mutating func quarantine(
        _ reason: QuarantinedLine.Reason, beginningOf line: UnsafeRawBufferPointer, _ envelope: Envelope,
        slots: Slots, otherText: UnsafeRawBufferPointer? = nil
    ) -> LineResult {
        let shape = envelope.shape >= 0 ? projection.shapes[envelope.shape] : nil
        var hasSlots = false
        if let shape, shape.readsData, envelope.dataKind == .object {
            if envelope.dataShape == envelope.shape {
                hasSlots = true
            } else if !envelope.data.isEmpty {
                reread(line, data: envelope.data, as: envelope.shape, slots: slots)
                hasSlots = true
            }
            for slot in shape.idSlots where slots[Int(slot)]?.isCut(in: line) == true {
                slots[Int(slot)] = nil
            }
        }
        let result = quarantine(reason, type: envelope.type?.string, shape: shape, hasSlots ? slots : nil)
        guard case .quarantined(_, let scope) = result else { return result }
        // If lines have run into one, the other lines carry records too.
        var others = otherTables(in: line, besides: envelope.type)
        if let otherText { others.formUnion(otherTables(in: otherText, besides: nil)) }
        return .quarantined(reason, scope: scope.widened(to: others))
    }

    /// Returns the tables whose upsert types occur as a line's type anywhere in the text, except for the type that was
    /// read.
    private func otherTables(in text: UnsafeRawBufferPointer, besides type: JSONSlice?) -> Set<Int> {
        var tables: Set<Int> = []
        LenientEnvelope.forEachType(in: text, rules: projection.rules) { other in
            let index = projection.types.index(of: other)
            guard index >= 0, other.bytes.baseAddress != type?.bytes.baseAddress,
                case .upsert = projection.shapes[index].role
            else { return }
            tables.insert(projection.shapes[index].table)
        }
        return tables
    }

    /// Counts a quarantined line and notes what is known of it, without its bytes.
    mutating func quarantine(
        _ reason: QuarantinedLine.Reason, type: String?, shape: LineShape?, _ slots: Slots? = nil
    ) -> LineResult {
        counters.quarantined[reason, default: 0] += 1
        var line = QuarantinedLine(reason: reason, type: type)
        line.namespace = lastCheckpoint?.namespace
        if let shape, shape.table >= 0 { line.table = projection.schema.tables[shape.table].name }
        if let shape, let slots {
            let parts = shape.idSlots.map { slots[Int($0)]?.shownText ?? "" }
            if parts.contains(where: { !$0.isEmpty }) { line.id = parts.joined(separator: ".") }
        }
        quarantined = line
        return .quarantined(reason, scope: type == nil ? .everything : scope(shape, slots))
    }

    /// Returns the records that a line of a type may have carried; none if no table takes the type.
    private mutating func scope(_ shape: LineShape?, _ slots: Slots?) -> QuarantineScope {
        guard let shape, case .upsert = shape.role else { return .nothing }
        guard let slots else { return .table(shape.table) }
        var scratch = JSONWriter()
        switch appendID(shape, slots, to: &scratch) {
        case .success(let id): return .record(table: shape.table, feed: shape.feed, id: id)
        case .failure(.unsafe): return .nothing
        case .failure(.missing), .failure(.unfit): return .table(shape.table)
        }
    }

    /// Takes a token from a line that could not be read, if it fits the line's type.
    ///
    /// If two lines ran into one, the type belongs to the first and the token to the second; to take that token would
    /// skip the first line without a trace. Only types without data may carry the token of another namespace.
    private mutating func adopt(_ token: [UInt8]?, type: String?) {
        guard let token, let type else { return }
        let checkpoint = Checkpoint(token: String(decoding: token, as: UTF8.self), lineType: type)
        guard checkpoint.namespace.utf8.elementsEqual(type.utf8) || projection.rules.ackOnlyTypes.contains(type),
            type != projection.rules.resetType, type != projection.rules.completeType
        else { return }
        Array(type.utf8).withUnsafeBytes { type in
            token.withUnsafeBytes { tokens.advance(to: $0, lineType: type) }
        }
        hasToken = tokens.current >= 0
    }
}

extension QuarantineScope {
    /// Returns the scope of a line that also carries records of other tables.
    fileprivate func widened(to tables: Set<Int>) -> QuarantineScope {
        guard !tables.isEmpty else { return self }
        var tables = tables
        switch self {
        case .everything: return self
        case .record(let table, _, _), .table(let table): tables.insert(table)
        case .nothing: break
        }
        return tables.count == 1 ? tables.first.map { .table($0) } ?? self : .everything
    }
}

extension JSONSlice {
    /// Returns whether more digits may follow than were read: those of `12` in `{"id":12` and in `{"id":12x4}`.
    fileprivate func isCut(in line: UnsafeRawBufferPointer) -> Bool {
        guard kind == .number, let start = bytes.baseAddress, let base = line.baseAddress else { return false }
        let end = start - base + bytes.count
        guard end < line.count else { return true }
        return !LenientEnvelope.isWhiteSpace(line[end]) && line[end] != UInt8(ascii: ",")
            && line[end] != UInt8(ascii: "}") && line[end] != UInt8(ascii: "]")
    }

    /// The value for messages to the operator, cut to the length of the longest id.
    fileprivate var shownText: String {
        let text = (kind == .string ? string : nil) ?? spelling
        return String(decoding: text.utf8.prefix(RecordID.maximumLength), as: UTF8.self)
    }
}
