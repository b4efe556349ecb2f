// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

/// The stream whose way through the byte path is counted: lines like those of a photo library's assets, the same in
/// every run.
///
/// A line has about 660 bytes and 20 members, of which the client's table uses 8, two of them timestamps; one line in
/// eight has a name with characters beyond ASCII or with escapes.
enum CountedStream {
    /// The number of lines, without the complete line.
    static let lines = 2_000

    /// The client's table.
    static let schema: Schema = {
        var assets = Table(name: "assets")
        assets.feeds = [Table.Feed(versions: [.init(requestType: "AssetsV1")])]
        assets.upserts = ["AssetV1"]
        assets.deletes = [
            Table.DeleteRule(type: "AssetDeleteV1", target: .by([Path(name: "assetId")], all: false))
        ]
        assets.ids = [Table.IDRule(paths: [Path(name: "id")])]
        assets.columns = [
            column("owner_id", .string, from: "ownerId"), column("file_name", .string, from: "originalFileName"),
            column("checksum", .string, from: "checksum"), column("taken_at", .timestamp, from: "localDateTime"),
            column("modified_at", .timestamp, from: "fileModifiedAt"),
            column("is_favorite", .boolean, from: "isFavorite"),
            column("width", .number, from: "width"), column("height", .number, from: "height"),
        ]
        return Schema(tables: [assets])
    }()

    /// Returns the bytes of the stream; if it is converted, the five columns that are no texts come in other spellings, as
    /// databases print them.
    static func bytes(isConverted: Bool = false) -> [UInt8] {
        var random = SeededGenerator(seed: 42)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(lines * 640)
        for number in 0..<lines {
            let line = line(number, &random)
            bytes += (isConverted ? converted(line, number) : line).utf8
        }
        bytes += #"{"type":"SyncCompleteV1","data":{},"ack":"SyncCompleteV1|\#(uuid(&random))"}"#.utf8
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    private static func column(_ name: String, _ type: ColumnType, from member: String) -> Column {
        Column(name: name, type: type, sources: [.path(Path(name: member), types: [])])
    }

    private static func line(_ number: Int, _ random: inout SeededGenerator) -> String {
        let time = "20\(10 + number % 16)-0\(1 + number % 9)-\(10 + number % 19)T1\(number % 10):\(10 + number % 50)"
        return #"{"type":"AssetV1","data":{"id":"\#(uuid(&random))","ownerId":"\#(uuid(&random))","#
            + #""originalFileName":"\#(name(number))","thumbhash":"\#(uuid(&random))","#
            + #""checksum":"\#(uuid(&random))=","fileCreatedAt":"\#(time):07.\#(100 + number % 900)Z","#
            + #""fileModifiedAt":"\#(time):21.\#(100 + number % 800)Z","#
            + #""localDateTime":"\#(time):07.\#(100 + number % 900)Z","duration":null,"type":"IMAGE","#
            + #""deletedAt":null,"isFavorite":\#(number % 20 == 0),"visibility":"timeline","livePhotoVideoId":null,"#
            + #""stackId":null,"libraryId":null,"isEdited":false,"width":4032,"height":\#(3000 + number % 99),"#
            + #""exposure":0.\#(100 + number % 900)},"ack":"AssetV1|\#(uuid(&random))"}"# + "\n"
    }

    /// Replaces times by PostgreSQL's texts, numbers by texts, and truth values by letters.
    private static func converted(_ line: String, _ number: Int) -> String {
        let members = line.split(separator: ",", omittingEmptySubsequences: false).map { member -> String in
            let (name, value) = (member.prefix { $0 != ":" }, String(member.drop { $0 != ":" }.dropFirst()))
            switch name {
            case #""fileModifiedAt""#, #""localDateTime""#:
                return name + ":" + value.replacing("T", with: " ").replacing("Z\"", with: "456+00\"")
            case #""isFavorite""#: return name + (value == "true" ? #":"t""# : #":"f""#)
            case #""width""#, #""height""#: return name + ":\"\(value).50\""
            default: return String(member)
            }
        }
        return members.joined(separator: ",")
    }

    private static func name(_ number: Int) -> String {
        switch number % 16 {
        case 3: "Été à Paris – \(100_000 + number).jpeg"
        case 11: #"\"best of\" \\\#(100_000 + number).jpeg"#
        default: "IMG_20240131_\(100_000 + number).jpeg"
        }
    }

    private static func uuid(_ random: inout SeededGenerator) -> String {
        let lengths = [8, 4, 4, 4, 12]
        return String(unsafeUninitializedCapacity: 36) { text in
            var offset = 0
            var bits = random.next()
            for (part, length) in lengths.enumerated() {
                if part > 0 {
                    text[offset] = UInt8(ascii: "-")
                    offset += 1
                }
                for _ in 0..<length {
                    text[offset] = digits[Int(bits & 15)]
                    bits = bits == 0 ? random.next() : bits >> 4
                    offset += 1
                }
            }
            return offset
        }
    }

    private static let digits = Array("0123456789abcdef".utf8)
}
