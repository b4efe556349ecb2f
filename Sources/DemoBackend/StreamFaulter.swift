// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The faults of one stream, applied to its lines.
struct StreamFaulter {
    /// The next step of the sender.
    enum Output {
        case bytes([UInt8])
        case wait(milliseconds: Int)
        case cut
        case end
        case stall
    }

    private let fault: DemoFault.Stream
    private var sentLines = 0
    private var sentBytes = 0

    init(_ fault: DemoFault.Stream) { self.fault = fault }

    /// Returns the outputs for these lines, in order.
    mutating func outputs(for lines: StreamLines) -> [Output] {
        var outputs: [Output] = []
        for line in lines.lines {
            if let ending = ending() {
                outputs.append(ending)
                return outputs
            }
            let isComplete = line.starts(with: #"{"type":"SyncCompleteV1""#.utf8)
            if fault.omitsComplete, isComplete { continue }
            if let delay = fault.delayPerLine { outputs.append(.wait(milliseconds: delay)) }
            var bytes = Array(line)
            if fault.omitsLastLineEnd, isComplete { bytes.removeLast() }
            if let malformation = fault.malformed[sentLines] { bytes = malformation.apply(to: bytes) }
            if let limit = fault.cutAfterBytes, sentBytes + bytes.count > limit {
                return outputs + [.bytes(Array(bytes.prefix(limit - sentBytes))), .cut]
            }
            sentLines += 1
            sentBytes += bytes.count
            outputs.append(.bytes(bytes))
        }
        if let ending = ending() { outputs.append(ending) }
        return outputs
    }

    private func ending() -> Output? {
        if fault.cutAfterLines == sentLines { return .cut }
        if fault.endAfterLines == sentLines { return .end }
        if fault.stallAfterLines == sentLines { return .stall }
        return nil
    }
}

extension DemoFault.Malformation {
    /// Returns the bytes that replace a line.
    func apply(to line: [UInt8]) -> [UInt8] {
        switch self {
        case .invalidJSON: return Array(line.prefix(line.count / 2)) + [0x0A]
        case .invalidUTF8: return breakingUTF8(of: line)
        case .unknownTypeBefore:
            return Array(#"{"type":"MysteryV9","data":{"id":"m"},"ack":"MysteryV9|m"}"#.utf8) + [0x0A] + line
        case .garbageBefore: return Array("<html>502 Bad Gateway</html>\n".utf8) + line
        case .blankBefore: return [0x0A] + line
        case .duplicate: return line + line
        case .noID:
            return changing(line) { data in
                data.filter { $0.key != "id" && !$0.key.hasSuffix("Id") }
            }
        case .wrongTypes: return changing(line) { $0.mapValues(wrong) }
        case .overlong(let count):
            return changing(line) { data in
                data.merging(["padding": .string(String(repeating: "x", count: count))]) { $1 }
            }
        case .notAnObject: return rebuilding(line) { $0["data"] = "nothing" }
        case .noAck: return rebuilding(line) { $0["ack"] = nil }
        case .numberAck: return rebuilding(line) { $0["ack"] = 7 }
        case .arrayBefore: return Array("[".utf8) + line.dropLast() + Array("]\n".utf8) + line
        }
    }

    private func wrong(_ value: DemoValue) -> DemoValue {
        switch value {
        case .string(let text): text.isEmpty || UpdateIDs.isUUID(text) ? value : 12
        case .number, .null: "twelve"
        case .bool: "perhaps"
        case .array, .object: false
        }
    }

    private func changing(_ line: [UInt8], _ change: ([String: DemoValue]) -> [String: DemoValue]) -> [UInt8] {
        rebuilding(line) { members in
            if let data = members["data"]?.object { members["data"] = .object(change(data)) }
        }
    }

    private func rebuilding(_ line: [UInt8], _ change: (inout [String: DemoValue]) -> Void) -> [UInt8] {
        guard var members = DemoValue(parsing: line)?.object else { return line }
        change(&members)
        return Array(DemoValue.object(members).json.utf8) + [0x0A]
    }

    private func breakingUTF8(of line: [UInt8]) -> [UInt8] {
        let mark = Array(#""data":{"#.utf8)
        guard let data = line.indices.first(where: { line[$0...].starts(with: mark) }) else { return line }
        let value = Array(#"":""#.utf8)
        guard let start = line.indices.dropFirst(data + mark.count).first(where: { line[$0...].starts(with: value) })
        else { return line }
        return Array(line[..<(start + value.count)]) + [0xFF] + line[(start + value.count)...]
    }
}
