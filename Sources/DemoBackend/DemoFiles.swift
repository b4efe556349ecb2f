// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import NIOCore

/// The files for pass-through: small ones that are stored, and ones of any size that are generated.
///
/// A name that begins with a number of bytes, such as `104857600.bin` or `100MiB.bin`, is that of a generated file.
final class DemoFiles: Sendable {
    static let largestStored = 16 << 20
    static let mostStored = 64
    /// The size of a block; files are sent in parts that end at the end of a block.
    static let blockSize = 64 << 10
    /// The bytes of every block, except for its first eight: the byte at `n` is `n × 31 + n ÷ 256` modulo 256.
    static let block: [UInt8] = (0..<blockSize).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }

    private let stored = NIOLockedValueBox<[String: [UInt8]]>([:])

    /// A file that can be read in parts.
    enum File: Sendable {
        case stored([UInt8])
        case generated(size: Int)

        var size: Int {
            switch self {
            case .stored(let bytes): bytes.count
            case .generated(let size): size
            }
        }

        /// Returns the bytes of a range that lies in one block of the file.
        func bytes(_ range: Range<Int>) -> ByteBuffer {
            switch self {
            case .stored(let bytes): ByteBuffer(bytes: bytes[range])
            case .generated: Self.generated(range)
            }
        }

        /// Returns the bytes of a generated file; each block begins with its number in eight bytes, so that a lost,
        /// shifted or repeated part is noticed.
        private static func generated(_ range: Range<Int>) -> ByteBuffer {
            let (number, offset) = range.lowerBound.quotientAndRemainder(dividingBy: DemoFiles.blockSize)
            var buffer = ByteBuffer(bytes: DemoFiles.block[offset..<(offset + range.count)])
            var numbered = ByteBuffer(integer: number)
            if offset < 8, let bytes = numbered.readBytes(length: 8) {
                buffer.setBytes(bytes[offset..<min(8, offset + range.count)], at: 0)
            }
            return buffer
        }

        /// The entity tag, which changes with the content.
        var tag: String {
            switch self {
            case .generated(let size): "\"generated-\(size)\""
            case .stored(let bytes):
                "\"\(bytes.count)-\(bytes.reduce(5381) { ($0 << 5) &+ $0 &+ Int($1) })\""
            }
        }
    }

    func file(named name: String) -> File? {
        if let bytes = stored.withLockedValue({ $0[name] }) { return .stored(bytes) }
        let digits = name.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int(digits), !digits.isEmpty else { return nil }
        let unit = name.dropFirst(digits.count).prefix { $0 != "." }
        switch unit {
        case "": return .generated(size: number)
        case "KiB" where number < 1 << 30: return .generated(size: number << 10)
        case "MiB" where number < 1 << 20: return .generated(size: number << 20)
        default: return nil
        }
    }

    /// Stores a file and returns true, or returns false if there is no room for more.
    func store(_ bytes: [UInt8], as name: String) -> Bool {
        stored.withLockedValue { stored in
            guard stored.count < Self.mostStored || stored[name] != nil else { return false }
            stored[name] = bytes
            return true
        }
    }
}
