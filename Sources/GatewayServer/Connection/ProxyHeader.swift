// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOCore

/// The header of the PROXY protocol with which a proxy begins a connection that it passes on
/// (https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt).
enum ProxyHeader: Hashable {
    /// More bytes are needed.
    case incomplete
    /// The bytes are no header.
    case invalid
    /// The header, with the client's address; nil if the proxy speaks for itself or states none.
    case complete(source: String?)

    /// The most bytes of a header of version 1, and of what follows the first 16 bytes of version 2.
    private static let (longestText, longestRest) = (107, 4_096)
    private static let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]
    private static let word = Array("PROXY ".utf8)

    /// Reads a header of either version, and takes its bytes away if it is complete.
    static func read(from buffer: inout ByteBuffer) -> ProxyHeader {
        let bytes = buffer.readableBytesView
        if bytes.starts(with: signature) { return readBinary(&buffer) }
        if bytes.starts(with: word) { return readText(&buffer) }
        let isBeginning = signature.starts(with: bytes) || word.starts(with: bytes)
        return isBeginning ? .incomplete : .invalid
    }

    private static func readText(_ buffer: inout ByteBuffer) -> ProxyHeader {
        let line = buffer.readableBytesView.prefix(longestText)
        guard let end = line.firstIndex(of: 0x0A) else { return line.count < longestText ? .incomplete : .invalid }
        guard end > line.startIndex, line[end - 1] == 0x0D else { return .invalid }
        let words = String(decoding: line[..<(end - 1)], as: UTF8.self).split(
            separator: " ", omittingEmptySubsequences: false)
        buffer.moveReaderIndex(forwardBy: end + 1 - line.startIndex)
        if words.count >= 2, words[1] == "UNKNOWN" { return .complete(source: nil) }
        guard words.count == 6, words[4...].allSatisfy({ UInt16($0) != nil }),
            ["TCP4", "TCP6"].contains(words[1]), isAddress(words[2], words[1]), isAddress(words[3], words[1])
        else { return .invalid }
        return .complete(source: String(words[2]))
    }

    private static func isAddress(_ text: Substring, _ family: Substring) -> Bool {
        guard let address = try? SocketAddress(ipAddress: String(text), port: 0) else { return false }
        return address.protocol == (family == "TCP4" ? .inet : .inet6)
    }

    private static func readBinary(_ buffer: inout ByteBuffer) -> ProxyHeader {
        let start = buffer.readerIndex
        guard let command: UInt8 = buffer.getInteger(at: start + 12),
            let family: UInt8 = buffer.getInteger(at: start + 13),
            let length: UInt16 = buffer.getInteger(at: start + 14)
        else { return .incomplete }
        guard command == 0x20 || command == 0x21, length <= longestRest else { return .invalid }
        guard buffer.readableBytes >= 16 + Int(length) else { return .incomplete }
        defer { buffer.moveReaderIndex(forwardBy: 16 + Int(length)) }
        // LOCAL: the proxy itself, to see whether the gateway lives.
        if command == 0x20 { return .complete(source: nil) }
        let addressLength: Int
        switch family {
        case 0x11: addressLength = 4
        case 0x21: addressLength = 16
        case 0x00, 0x31: return .complete(source: nil)
        default: return .invalid
        }
        // Source and destination, and a port of each.
        guard length >= addressLength * 2 + 4, let packed = buffer.getSlice(at: start + 16, length: addressLength),
            let address = try? SocketAddress(packedIPAddress: packed, port: 0)
        else { return .invalid }
        return .complete(source: address.ipAddress)
    }
}
