// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOCore
import SyncModel

/// The stream that scenarios measure with: lines like those of a photo library's assets, the same for every run.
///
/// A line has about 630 bytes and 20 members, of which a client's table uses 8. Some names have characters beyond ASCII
/// and some have escapes, as real names do.
struct AssetStream {
    /// The spellings of ids.
    enum IDs: String, Codable, CaseIterable {
        /// 36 characters.
        case uuid
        /// 16 characters, as WatermelonDB makes them.
        case short
    }

    /// The number of assets.
    let rows: Int
    /// The spelling of all ids.
    var ids = IDs.uuid
    /// True if assets have a stack as their parent and come by two request types.
    var isLinked = false

    /// The number of stacks if assets are linked.
    static let stacks = 100

    /// The number of records in a first sync.
    var records: Int { rows + (isLinked ? Self.stacks : 0) }

    /// The gateway's configuration for the stream, except ports and paths.
    static let schema = """
        [table assets]
        request = AssetsV1
        upsert = AssetV1
        delete = AssetDeleteV1 by assetId
        id = id

        [columns assets]
        owner_id = string ownerId
        file_name = string originalFileName
        checksum = string
        taken_at = timestamp localDateTime
        modified_at = timestamp fileModifiedAt
        is_favorite = boolean isFavorite
        width = number
        height = number

        """

    /// The same configuration for linked assets.
    static let linkedSchema =
        schema
        .replacing("request = AssetsV1", with: "request = AssetsV1, PartnerAssetsV1")
        .replacing("upsert = AssetV1", with: "upsert = AssetV1, PartnerAssetV1")
        .replacing("id = id", with: "id = id\nparent = stack_id stacks")
            + """
            stack_id = string? stackId

            [table stacks]
            request = StacksV1
            upsert = StackV1
            delete = StackDeleteV1 by stackId
            id = id

            [columns stacks]
            owner_id = string ownerId

            """

    /// The bytes at the beginning of every record, in the stream and in answers, and nowhere else.
    static let recordMark = Array(#"{"id":"#.utf8)

    /// Returns all lines, with the complete line at the end.
    func bytes() -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.reserveCapacity(rows * 650 + 200)
        var random = Self.random
        let owner = Self.uuid(&random)
        if isLinked {
            for stack in 0..<Self.stacks {
                buffer.writeString(
                    #"{"type":"StackV1","data":{"id":"\#(stackID(stack))","ownerId":"\#(owner)"},"#
                        + #""ack":"StackV1|\#(stackID(stack))"}"# + "\n")
            }
        }
        for row in 0..<rows { buffer.writeString(line(row, owner: owner, &random)) }
        buffer.writeString(Self.completeLine(&random))
        return buffer
    }

    /// The stream of a backend in which nothing has changed.
    static let nothing = #"{"type":"SyncCompleteV1","data":{},"ack":"SyncCompleteV1|1"}"# + "\n"

    /// Returns the stream of a backend whose session has acknowledged everything, and in which `count` assets have been
    /// renamed since.
    ///
    /// Each round renames other assets, spread over the whole table. The names and the token of the complete line have
    /// the number of the round, behind ``roundMark``.
    func changes(_ count: Int, round: Int) -> ByteBuffer {
        var buffer = ByteBuffer()
        var choice = SeededGenerator(seed: UInt64(round))
        let number = String(decoding: Self.roundDigits(round), as: UTF8.self)
        var changed: Set<Int> = []
        while changed.count < min(count, rows) {
            let row = Int(choice.next() % UInt64(rows))
            guard changed.insert(row).inserted else { continue }
            var random = generator(at: row)
            let owner = Self.owner
            var line = self.line(row, owner: owner, &random)
            line.replace(".jpeg", with: "_round-\(number).jpeg")
            buffer.writeString(line)
        }
        buffer.writeString(
            #"{"type":"SyncCompleteV1","data":{},"ack":"SyncCompleteV1|round-\#(number)"}"# + "\n")
        return buffer
    }

    /// The bytes before the number of a round.
    static let roundMark = Array("round-".utf8)

    /// Returns the number of a round, always with the same number of digits.
    static func roundDigits(_ round: Int) -> [UInt8] {
        let digits = Array(String(round).utf8.suffix(8))
        return Array(repeating: UInt8(ascii: "0"), count: 8 - digits.count) + digits
    }

    private static var random: SeededGenerator { SeededGenerator(seed: 42) }

    private static var owner: String {
        var random = random
        return uuid(&random)
    }

    /// Returns the generator's state before a row: each row takes the same number of random numbers, and each number is
    /// one step.
    private func generator(at row: Int) -> SeededGenerator {
        var random = Self.random
        let owner = Self.uuid(&random)
        var next = random
        _ = line(0, owner: owner, &next)
        return SeededGenerator(seed: random.seed &+ UInt64(row) &* (next.seed &- random.seed))
    }

    private static func completeLine(_ random: inout SeededGenerator) -> String {
        #"{"type":"SyncCompleteV1","data":{},"ack":"SyncCompleteV1|\#(uuid(&random))"}"# + "\n"
    }

    private func line(_ row: Int, owner: String, _ random: inout SeededGenerator) -> String {
        let id = ids == .uuid ? Self.uuid(&random) : Self.short(&random)
        let bits = random.next()
        let isPortrait = bits & 1 == 0
        let taken = Self.time(row, &random)
        let type = isLinked && row % 3 == 2 ? "PartnerAssetV1" : "AssetV1"
        let stack = isLinked ? #""\#(stackID(row % Self.stacks))""# : "null"
        return #"{"type":"\#(type)","data":{"id":"\#(id)","ownerId":"\#(owner)","#
            + #""originalFileName":"\#(Self.fileName(row))","thumbhash":"\#(Self.base64(28, &random))","#
            + #""checksum":"\#(Self.base64(27, &random))=","fileCreatedAt":"\#(taken)","#
            + #""fileModifiedAt":"\#(Self.time(row + 1, &random))","localDateTime":"\#(taken)","#
            + #""duration":null,"type":"IMAGE","deletedAt":null,"#
            + #""isFavorite":\#(bits % 20 == 0),"visibility":"timeline","livePhotoVideoId":null,"#
            + #""stackId":\#(stack),"libraryId":null,"isEdited":false,"#
            + #""width":\#(isPortrait ? 3024 : 4032),"height":\#(isPortrait ? 4032 : 3024),"#
            + #""exposure":0.\#(bits >> 32 % 900 + 100)},"ack":"\#(type)|\#(Self.uuid(&random))"}"# + "\n"
    }

    private func stackID(_ stack: Int) -> String {
        var random = SeededGenerator(seed: UInt64(stack) << 32)
        return ids == .uuid ? Self.uuid(&random) : Self.short(&random)
    }

    /// Takes as many random numbers as a UUID.
    private static func short(_ random: inout SeededGenerator) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
        var text = ""
        for _ in 0..<2 {
            var bits = random.next()
            for _ in 0..<8 {
                text.unicodeScalars.append(Unicode.Scalar(alphabet[Int(bits % 62)]))
                bits /= 62
            }
        }
        return text
    }

    private static func fileName(_ row: Int) -> String {
        switch row % 16 {
        case 3: "Été à Paris – \(1_000_000 + row).jpeg"
        case 11: #"\"best of\" \\\#(1_000_000 + row).jpeg"#
        default: "IMG_20240131_\(1_000_000 + row).jpeg"
        }
    }

    private static func time(_ row: Int, _ random: inout SeededGenerator) -> String {
        let bits = random.next()
        let month = two(Int(bits % 12) + 1)
        let day = two(Int(bits >> 8 % 28) + 1)
        let clock = "\(two(row / 3600 % 24)):\(two(row / 60 % 60)):\(two(row % 60))"
        return "20\(two(row % 24))-\(month)-\(day)T\(clock).\(100 + bits >> 16 % 900)Z"
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    private static func uuid(_ random: inout SeededGenerator) -> String {
        let digits = hex(random.next()) + hex(random.next())
        var text = ""
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { text.append("-") }
            text.append(digit)
        }
        return text
    }

    private static func hex(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }

    private static func base64(_ count: Int, _ random: inout SeededGenerator) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var bits: UInt64 = 0
        return String(
            unsafeUninitializedCapacity: count,
            initializingUTF8With: { target in
                for index in 0..<count {
                    if index % 10 == 0 { bits = random.next() }
                    target[index] = alphabet[Int(bits & 63)]
                    bits >>= 6
                }
                return count
            })
    }
}
