// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes

/// Assembles a head from the header lines that libcurl passes on one by one.
struct ResponseHeadParser {
    /// The result of adding a line.
    enum Outcome {
        case more
        /// The final head is complete.
        case head(Exchange.Head)
        case failure(CurlError)
    }

    let limit: Int
    /// The protocols that the server may switch to, in small letters.
    private let protocols: [String]
    private var size = 0
    private var status: HTTPResponse.Status?
    private var isModern = false
    private var fields: HTTPFields = [:]
    private var isComplete = false

    /// Creates a parser.
    ///
    /// - Parameters:
    ///   - limit: In bytes, for all heads of the exchange together, the interim ones included.
    ///   - protocols: The protocols that the server was asked to switch to, in small letters.
    init(limit: Int, protocols: [String] = []) {
        self.limit = limit
        self.protocols = protocols
    }

    /// Adds one line with its line break.
    mutating func add(_ line: some BidirectionalCollection<UInt8>) -> Outcome {
        // After the final head, only the trailers of a chunked body follow. They are not used, but count.
        size += line.count
        guard size <= limit else { return .failure(.headTooLarge(limit: limit)) }
        guard !isComplete else { return .more }
        let line = Array(line.trimmingLineBreak())
        if line.isEmpty { return endOfHead() }
        if line.starts(with: Array("HTTP/".utf8)) { return startOfHead(line) }
        return addField(line)
    }

    private mutating func startOfHead(_ line: [UInt8]) -> Outcome {
        let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
        guard parts.count >= 2, parts[1].count == 3, let code = Int(String(decoding: parts[1], as: UTF8.self)),
            (100...999).contains(code)
        else { return .failure(.protocolViolation("the status line is malformed")) }
        status = HTTPResponse.Status(code: code)
        isModern = !line.starts(with: Array("HTTP/1.0".utf8))
        fields = [:]
        return .more
    }

    private mutating func endOfHead() -> Outcome {
        guard let status else { return .failure(.protocolViolation("the head has no status line")) }
        guard status.kind != .informational || status == .switchingProtocols else {
            self.status = nil
            return .more
        }
        isComplete = true
        var head = Exchange.Head(status: status, fields: fields)
        let reason =
            status == .switchingProtocols
            ? head.faultOfSwitch(to: protocols, isModern: isModern) : head.resolveFraming(isModern: isModern)
        if let reason { return .failure(.protocolViolation(reason)) }
        return .head(head)
    }

    private mutating func addField(_ line: [UInt8]) -> Outcome {
        // Obsolete line folding: the line belongs to the field before it (RFC 9112, 5.2).
        if line.first == UInt8(ascii: " ") || line.first == UInt8(ascii: "\t") {
            guard let last = fields.last else { return .failure(.protocolViolation("the head begins with a space")) }
            let value = last.withUnsafeBytesOfValue { Array($0) } + [UInt8(ascii: " ")] + line.trimmingBlanks()
            fields[fields.endIndex - 1] = HTTPField(name: last.name, lenientValue: value)
            return .more
        }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
            return .failure(.protocolViolation("a header field has no colon"))
        }
        guard let name = HTTPField.Name(String(decoding: line[..<colon], as: UTF8.self)) else { return .more }
        fields.append(HTTPField(name: name, lenientValue: line[(colon + 1)...].trimmingBlanks()))
        return .more
    }
}

extension BidirectionalCollection<UInt8> {
    fileprivate func trimmingLineBreak() -> SubSequence {
        var rest = self[...]
        if rest.last == UInt8(ascii: "\n") { rest.removeLast() }
        if rest.last == UInt8(ascii: "\r") { rest.removeLast() }
        return rest
    }

    fileprivate func trimmingBlanks() -> SubSequence {
        var rest = self[...].drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        while let last = rest.last, last == UInt8(ascii: " ") || last == UInt8(ascii: "\t") { rest.removeLast() }
        return rest
    }
}
