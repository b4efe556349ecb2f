// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import SyncModel

extension LineProjector {
    /// Sets a line aside that the splitter did not keep, because it was too long.
    ///
    /// - Parameters:
    ///   - head: The line's first bytes, where its type is looked for.
    ///   - tail: Its last bytes, where its token is looked for.
    /// - Returns: Always `quarantined(.tooLong)`.
    package mutating func projectTooLong(head: UnsafeRawBufferPointer, tail: UnsafeRawBufferPointer) -> LineResult {
        counters.lines &+= 1
        hasToken = false
        let type = LenientEnvelope.type(at: head, rules: projection.rules)
        adopt(LenientEnvelope.token(at: tail, whole: nil, rules: projection.rules), type: type)
        return quarantine(.tooLong, type: type, shape: type.flatMap(shape(named:)))
    }

    /// Sets a line aside that is not JSON.
    ///
    /// Its token still counts where it can be read without doubt, because the line comes no second time anyway.
    mutating func quarantineUnreadable(_ line: UnsafeRawBufferPointer, _ error: JSONError) -> LineResult {
        let reason: QuarantinedLine.Reason =
            switch error.code {
            case .invalidUTF8: .invalidUTF8
            case .tooDeep: .tooDeep
            case .tooLarge: .tooLong
            default: .invalidJSON
            }
        let type = LenientEnvelope.type(at: line, rules: projection.rules)
        adopt(LenientEnvelope.token(at: line, whole: line, rules: projection.rules), type: type)
        return quarantine(reason, type: type, shape: type.flatMap(shape(named:)))
    }

    /// Notes what is known of a line that is set aside.
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
        return .quarantined(reason)
    }

    private func shape(named type: String) -> LineShape? { projection.shapes.first { $0.type == type } }

    /// Takes a token from a line that could not be read, if it fits the line's type.
    ///
    /// Where two lines ran into one, the type is the first one's and the token the second one's; to take that would
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

extension JSONSlice {
    /// The value as far as it is worth showing to the operator.
    fileprivate var shownText: String {
        let text = (kind == .string ? string : nil) ?? spelling
        return String(decoding: text.utf8.prefix(RecordID.maximumLength), as: UTF8.self)
    }
}

/// Finds type and token in a line that is not JSON as a whole.
enum LenientEnvelope {
    /// The type, where the line begins with members that can be read and it is among them.
    static func type(at line: UnsafeRawBufferPointer, rules: EnvelopeRules) -> String? {
        var scanner = JSONScanner(line, maximumDepth: rules.depthLimit)
        var type: String?
        do throws(JSONError) {
            try scanner.beginObject()
            while let name = try scanner.nextMember() {
                let value = try scanner.value()
                if name.equals(rules.typeField) { type = value.string }
            }
        } catch {
            // What was read up to here is all there is.
        }
        return type
    }

    /// The token, where it is the envelope's last member and, as far as `whole` tells, the only one of the line.
    static func token(
        at end: UnsafeRawBufferPointer, whole: UnsafeRawBufferPointer?, rules: EnvelopeRules
    ) -> [UInt8]? {
        var writer = JSONWriter()
        writer.append(string: rules.ackField)
        let name = writer.bytes
        if let whole, places(of: name, in: whole).count != 1 { return nil }
        // A name that is really a part of a string has a backslash before its quote, so it is found as a name only
        // where a brace or a comma comes before it.
        guard let place = places(of: name, in: end).last, place > 0,
            let before = end[..<place].last(where: { !isWhiteSpace($0) }),
            before == UInt8(ascii: ",") || before == UInt8(ascii: "{")
        else { return nil }
        // Read as if it were an object of this member alone.
        let member = [UInt8(ascii: "{")] + Array(end[place...])
        return member.withUnsafeBytes { bytes in
            guard let object = try? JSONScanner.document(bytes, maximumDepth: 1) else { return nil }
            var token: [UInt8]?
            var count = 0
            object.forEachMember { name, value in
                count += 1
                if name.equals(rules.ackField), value.isToken {
                    token = value.withTokenText { Array($0) }
                }
            }
            return count == 1 ? token : nil
        }
    }

    private static func places(of name: [UInt8], in text: UnsafeRawBufferPointer) -> [Int] {
        guard text.count >= name.count else { return [] }
        return (0...(text.count - name.count)).filter { text[$0] == name[0] && text[$0...].starts(with: name) }
    }

    private static func isWhiteSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0d }
}
