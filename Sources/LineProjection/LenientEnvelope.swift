// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes

/// Finds types and the token in a line that is not JSON as a whole.
enum LenientEnvelope {
    /// Calls `body` with every text that follows the name of the type's member, anywhere in the line.
    static func forEachType(
        in text: UnsafeRawBufferPointer, rules: EnvelopeRules, _ body: (JSONSlice) -> Void
    ) {
        var writer = JSONWriter()
        writer.append(string: rules.typeField)
        let name = writer.bytes
        for offset in offsets(of: name, in: text) {
            var colon = offset + name.count
            while colon < text.count, isWhiteSpace(text[colon]) { colon += 1 }
            guard colon < text.count, text[colon] == UInt8(ascii: ":") else { continue }
            var scanner = JSONScanner(UnsafeRawBufferPointer(rebasing: text[(colon + 1)...]))
            guard (try? scanner.peekKind()) == .string, let value = try? scanner.value() else { continue }
            body(value)
        }
    }

    /// Returns the token if it is the envelope's last member and, as far as `whole` tells, the only one of the line.
    static func token(
        at end: UnsafeRawBufferPointer, whole: UnsafeRawBufferPointer?, rules: EnvelopeRules
    ) -> [UInt8]? {
        var writer = JSONWriter()
        writer.append(string: rules.ackField)
        let name = writer.bytes
        if let whole, offsets(of: name, in: whole).count != 1 { return nil }
        // A name that is really a part of a string has a backslash before its quote, so it counts as a name only if a
        // brace or a comma comes before it.
        guard let offset = offsets(of: name, in: end).last, offset > 0,
            let before = end[..<offset].last(where: { !isWhiteSpace($0) }),
            before == UInt8(ascii: ",") || before == UInt8(ascii: "{")
        else { return nil }
        // Read as if the text were an object of this member alone.
        let member = [UInt8(ascii: "{")] + Array(end[offset...])
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

    private static func offsets(of name: [UInt8], in text: UnsafeRawBufferPointer) -> [Int] {
        guard text.count >= name.count else { return [] }
        return (0...(text.count - name.count)).filter { text[$0] == name[0] && text[$0...].starts(with: name) }
    }

    static func isWhiteSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0d }
}
