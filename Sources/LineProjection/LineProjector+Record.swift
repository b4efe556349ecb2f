// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import SyncModel

extension LineProjector {
    typealias Slots = UnsafeMutableBufferPointer<JSONSlice?>

    /// Writes the record, id or value that the filled slots hold, or quarantines the line.
    mutating func write(_ shape: LineShape, _ slots: Slots, to output: inout JSONWriter) -> LineResult {
        let start = output.count
        switch shape.role {
        case .upsert:
            output.append(raw: "{\"id\":")
            switch appendID(shape, slots, to: &output) {
            case .failure(let failure):
                output.truncate(to: start)
                return quarantine(failure.reason, type: shape.type, shape: shape, slots)
            case .success(let id):
                appendColumns(shape, slots, to: &output)
                if isDefaulted { unreadable.name(output.bytes[(start + 7)...].prefix(idLength)) }
                output.append(byte: UInt8(ascii: "}"))
                return .upsert(table: shape.table, feed: shape.feed, id: id, range: start..<output.count)
            }
        case .delete(let all):
            switch appendID(shape, slots, to: &output) {
            case .failure(let failure):
                output.truncate(to: start)
                return quarantine(failure.reason, type: shape.type, shape: shape, slots)
            case .success(let id):
                return .delete(
                    table: shape.table, feed: shape.feed, all: all, id: id, range: start..<output.count)
            }
        case .deleteWhere(let column, let link):
            // Null and the empty text would delete every record that lacks the value; no line ever means that.
            guard let slot = shape.idSlots.first, let slice = slots[Int(slot)], !slice.isNull, !slice.isEmptyString,
                let plan = shape.columns.first
            else { return quarantine(.noID, type: shape.type, shape: shape, slots) }
            let digest = withUnsafePointer(to: plan) { plan in
                withValue(slice, as: plan) { projector, value in
                    let digest = LinkDigest.of(value, key: projector.key)
                    guard digest != 0 else { return digest }
                    value.append(to: &output, type: plan.pointee.type, isOptional: plan.pointee.isOptional)
                    return digest
                }
            }
            guard digest != 0 else { return quarantine(.unsafeID, type: shape.type, shape: shape, slots) }
            return .deleteWhere(
                table: shape.table, feed: shape.feed, column: column, link: link, digest: digest,
                range: start..<output.count)
        case .idMap: return readIDMapping(shape, slots)
        case .ackOnly, .complete, .reset: return .ackOnly
        }
    }

    enum IDOutcome {
        case success(IDHash)
        case failure(IDFailure)
    }

    /// The reason why a value is not a usable id.
    enum IDFailure {
        /// No id at all.
        case missing
        /// A value that is no id at all, such as an object, a fraction or an empty text.
        case unfit
        /// An id, but not one that clients can hold.
        case unsafe

        var reason: QuarantinedLine.Reason { self == .missing ? .noID : .unsafeID }
    }

    /// Writes the id as a JSON string and hashes it.
    mutating func appendID(_ shape: LineShape, _ slots: Slots, to output: inout JSONWriter) -> IDOutcome {
        if shape.idSlots.count == 1 {
            guard let part = slots[Int(shape.idSlots[0])], !part.isNull else { return .failure(.missing) }
            // Almost every id is a plain string, which is checked without a copy.
            if part.kind == .string, !part.hasEscapes { return appendID(part.content, of: shape.table, to: &output) }
        }
        idBuffer.removeAll(keepingCapacity: true)
        if let failure = joinID(shape, slots) { return .failure(failure) }
        // Moved out, since writing changes the rest of this value.
        var id: [UInt8] = []
        swap(&id, &idBuffer)
        defer { swap(&id, &idBuffer) }
        return id.withUnsafeBytes { appendID($0, of: shape.table, to: &output) }
    }

    private mutating func appendID(
        _ id: UnsafeRawBufferPointer, of table: Int, to output: inout JSONWriter
    ) -> IDOutcome {
        if aliases != nil, let outcome = appendAlias(of: id, table, &output) { return outcome }
        return appendID(id, &output)
    }

    /// Writes the id by which the client knows a record, if that differs from the backend's; returns nil if it does
    /// not.
    @inline(never)
    private mutating func appendAlias(
        of id: UnsafeRawBufferPointer, _ table: Int, _ output: inout JSONWriter
    ) -> IDOutcome? {
        guard let aliases else { return nil }
        return aliases.withAlias(of: id, table: table) { alias in alias.map { appendID($0, &output) } }
    }

    private mutating func appendID(_ id: UnsafeRawBufferPointer, _ output: inout JSONWriter) -> IDOutcome {
        guard RecordID.isSafe(id) else { return .failure(id.isEmpty ? .unfit : .unsafe) }
        idLength = id.count
        output.append(byte: UInt8(ascii: "\""))
        output.append(raw: id)
        output.append(byte: UInt8(ascii: "\""))
        return .success(IDHash(id: id, key: key))
    }

    /// Joins the parts of the id in the buffer; returns the reason if there is no id or not a usable one.
    ///
    /// The parts of a composite id are escaped; the only part of a plain id is not and has to be safe by itself.
    private mutating func joinID(_ shape: LineShape, _ slots: Slots) -> IDFailure? {
        let isComposite = shape.idSlots.count > 1
        for (index, slot) in shape.idSlots.enumerated() {
            guard let part = slots[Int(slot)], !part.isNull else { return .missing }
            let digits = part.integerOfOtherSpelling
            guard part.kind == .string || part.isInteger || digits != nil else { return .unfit }
            if index > 0 { idBuffer.append(UInt8(ascii: ".")) }
            if let digits {
                idBuffer += digits
            } else if isComposite {
                // An empty part names no record, and an id of empty parts only would be "." or "..".
                guard !part.isEmptyString else { return .unfit }
                part.withTokenText { RecordID.appendPart($0, to: &idBuffer) }
            } else {
                part.appendUnescaped(to: &idBuffer)
            }
        }
        return shape.idSlots.isEmpty ? .missing : nil
    }

    private mutating func appendColumns(_ shape: LineShape, _ slots: Slots, to output: inout JSONWriter) {
        isDefaulted = false
        let needsContent = self.needsContent && shape.needsContent
        beginContent(shape, isNeeded: needsContent)
        // Plans are read in the array: a copy of each would cost more than the column's work itself.
        shape.columns.withUnsafeBufferPointer { plans in
            guard let first = plans.baseAddress else { return }
            for index in 0..<shape.writtenColumns {
                appendColumn(first + index, of: shape, slots, needsContent: needsContent, to: &output)
            }
        }
        if needsContent { finishContent(shape, slots) }
        if !watched.isEmpty { bringsWatched = hasWatched(shape, slots) }
    }

    @inline(__always)
    private mutating func appendColumn(
        _ plan: UnsafePointer<LineShape.ColumnPlan>, of shape: LineShape, _ slots: Slots, needsContent: Bool,
        to output: inout JSONWriter
    ) {
        let slice = shape.source(of: plan, slots)
        if slice == nil, !plan.pointee.constant.isEmpty {
            return appendConstant(plan, of: shape, needsContent: needsContent, to: &output)
        }
        if plan.pointee.reference >= 0, aliases != nil || slice.isNumber {
            return appendReference(plan, from: slice, of: shape, needsContent: needsContent, to: &output)
        }
        finishColumn(
            plan.pointee.value(of: slice), plan, from: slice, of: shape, needsContent: needsContent, to: &output)
    }

    @inline(__always)
    mutating func finishColumn(
        _ value: ColumnValue, _ plan: UnsafePointer<LineShape.ColumnPlan>, from slice: JSONSlice?, of shape: LineShape,
        needsContent: Bool, to output: inout JSONWriter
    ) {
        if plan.pointee.isDefault, value.isReplaced(isOptional: plan.pointee.isOptional) {
            appendConstant(plan, of: shape, needsContent: needsContent, to: &output)
        } else {
            shape.text.withUnsafeBytes { text in
                value.append(
                    after: UnsafeRawBufferPointer(rebasing: text[plan.pointee.prefixBytes]), to: &output,
                    type: plan.pointee.type, isOptional: plan.pointee.isOptional)
            }
            if needsContent { addContent(value, plan) }
        }
        switch value {
        case .string, .text, .number, .double, .boolean, .milliseconds(_, isAssumed: false), .json: break
        case .milliseconds(_, isAssumed: true): count(\.assumed, of: shape, plan)
        case .wrong: noteWrong(slice, of: shape, plan)
        case .null, .absent:
            if !plan.pointee.isOptional { count(\.missing, of: shape, plan) }
        }
        guard observer != nil else { return }
        observer?.note(value, slice, table: shape.table, column: Int(plan.pointee.column), type: plan.pointee.type)
    }

    private mutating func appendConstant(
        _ plan: UnsafePointer<LineShape.ColumnPlan>, of shape: LineShape, needsContent: Bool,
        to output: inout JSONWriter
    ) {
        // The constant follows the prefix in the text.
        let (start, end) = (Int(plan.pointee.prefix.lowerBound), Int(plan.pointee.constant.upperBound))
        shape.text.withUnsafeBytes { output.append(raw: UnsafeRawBufferPointer(rebasing: $0[start..<end])) }
        if needsContent { addConstant(plan) }
    }

    /// Notes a value that its column could not have: the record goes out with a default in its place.
    @inline(never)
    private mutating func noteWrong(
        _ slice: JSONSlice?, of shape: LineShape, _ plan: UnsafePointer<LineShape.ColumnPlan>
    ) {
        count(\.wrong, of: shape, plan)
        isDefaulted = true
        let (table, column) = (shape.table, Int(plan.pointee.column))
        let number = counters.wrong[projection.counterOffsets[table] + column]
        unreadable.add(slice, type: shape.type, table: table, column: column, number: number)
    }

    @inline(never)
    private mutating func count(
        _ counter: WritableKeyPath<ProjectionCounters, [Int]>, of shape: LineShape,
        _ plan: UnsafePointer<LineShape.ColumnPlan>
    ) {
        counters[keyPath: counter][projection.counterOffsets[shape.table] &+ Int(plan.pointee.column)] &+= 1
    }
}

extension JSONSlice? {
    @inline(__always)
    fileprivate var isNumber: Bool { if let self, case .number = self.kind { true } else { false } }
}
