// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import SyncModel

extension LineProjector {
    typealias Slots = UnsafeMutableBufferPointer<JSONSlice?>

    /// Writes what the filled slots say.
    mutating func write(_ shape: LineShape, _ slots: Slots, _ output: inout JSONWriter) -> LineResult {
        let start = output.count
        switch shape.role {
        case .upsert:
            output.append(raw: "{\"id\":")
            switch appendID(shape, slots, &output) {
            case .failure(let reason):
                output.truncate(to: start)
                return quarantine(reason, type: shape.type, shape: shape, slots)
            case .success(let id):
                appendColumns(shape, slots, &output)
                output.append(byte: UInt8(ascii: "}"))
                return .upsert(table: shape.table, source: shape.source, id: id, range: start..<output.count)
            }
        case .delete(let all):
            switch appendID(shape, slots, &output) {
            case .failure(let reason):
                output.truncate(to: start)
                return quarantine(reason, type: shape.type, shape: shape, slots)
            case .success(let id):
                return .delete(
                    table: shape.table, source: shape.source, all: all, id: id, range: start..<output.count)
            }
        case .deleteWhere(let column):
            // Null would delete every record that lacks the value; that is never what a delete line means.
            guard let slot = shape.idSlots.first, let value = slots[Int(slot)], !value.isNull,
                let plan = shape.columns.first
            else { return quarantine(.noID, type: shape.type, shape: shape, slots) }
            guard case .value = ColumnValue.append(value, type: plan.type, isOptional: plan.isOptional, to: &output)
            else {
                output.truncate(to: start)
                return quarantine(.unsafeID, type: shape.type, shape: shape, slots)
            }
            return .deleteWhere(
                table: shape.table, source: shape.source, column: column, range: start..<output.count)
        case .ackOnly, .complete, .reset: return .ackOnly
        }
    }

    enum IDOutcome {
        case success(IDHash)
        case failure(QuarantinedLine.Reason)
    }

    /// Writes the id as a JSON string and hashes it.
    private mutating func appendID(_ shape: LineShape, _ slots: Slots, _ output: inout JSONWriter) -> IDOutcome {
        if shape.idSlots.count == 1 {
            guard let part = slots[Int(shape.idSlots[0])], !part.isNull else { return .failure(.noID) }
            // Almost every id is a plain string, which needs no copy to be looked at.
            if part.kind == .string, !part.hasEscapes { return appendID(part.content, &output) }
        }
        idBuffer.removeAll(keepingCapacity: true)
        if let reason = joinID(shape, slots) { return .failure(reason) }
        return idBuffer.withUnsafeBytes { appendID($0, &output) }
    }

    private func appendID(_ id: UnsafeRawBufferPointer, _ output: inout JSONWriter) -> IDOutcome {
        guard RecordID.isSafe(id) else { return .failure(.unsafeID) }
        output.append(byte: UInt8(ascii: "\""))
        output.append(raw: id)
        output.append(byte: UInt8(ascii: "\""))
        return .success(IDHash(id: id, key: key))
    }

    /// Puts the id together in the buffer; what is wrong with it otherwise.
    ///
    /// The parts of a composite id are escaped; the only part of a plain one is not, it has to be safe by itself.
    private mutating func joinID(_ shape: LineShape, _ slots: Slots) -> QuarantinedLine.Reason? {
        let isComposite = shape.idSlots.count > 1
        for (index, slot) in shape.idSlots.enumerated() {
            guard let part = slots[Int(slot)], !part.isNull else { return .noID }
            guard part.kind == .string || part.isInteger else { return .unsafeID }
            if index > 0 { idBuffer.append(UInt8(ascii: ".")) }
            if part.isNegativeZero {
                idBuffer.append(UInt8(ascii: "0"))
            } else if isComposite {
                // An empty part names nothing, and two of them would make the id "..".
                guard !part.isEmptyString else { return .unsafeID }
                part.withTokenText { RecordID.appendPart($0, to: &idBuffer) }
            } else {
                part.appendUnescaped(to: &idBuffer)
            }
        }
        return shape.idSlots.isEmpty ? .noID : nil
    }

    private mutating func appendColumns(_ shape: LineShape, _ slots: Slots, _ output: inout JSONWriter) {
        let counterOffset = projection.counterOffsets[shape.table]
        for plan in shape.columns {
            appendText(shape, plan.prefix, &output)
            var value: JSONSlice?
            for source in Int(plan.sources.lowerBound)..<Int(plan.sources.upperBound) {
                value = slots[Int(shape.sources[source])]
                if value != nil { break }
            }
            if value == nil, !plan.constant.isEmpty {
                appendText(shape, plan.constant, &output)
                continue
            }
            let outcome = ColumnValue.append(value, type: plan.type, isOptional: plan.isOptional, to: &output)
            switch outcome {
            case .value: break
            case .wrong: counters.wrong[counterOffset &+ Int(plan.column)] &+= 1
            case .null, .absent:
                if !plan.isOptional { counters.missing[counterOffset &+ Int(plan.column)] &+= 1 }
            }
            if observer != nil {
                observer?.note(outcome, value, table: shape.table, column: Int(plan.column))
            }
        }
    }

    @inline(__always)
    private func appendText(_ shape: LineShape, _ range: Range<Int32>, _ output: inout JSONWriter) {
        shape.text.withUnsafeBytes {
            output.append(
                raw: UnsafeRawBufferPointer(rebasing: $0[Int(range.lowerBound)..<Int(range.upperBound)]))
        }
    }
}
