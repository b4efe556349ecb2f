// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The pushes that ``Small`` measures: three records created, one changed and one deleted, which an earlier push has
/// created.
struct SmallPush {
    /// The number of records in a push.
    static let size = 5

    let caller: Int
    /// The number of the caller's push, from 1 on.
    let number: Int

    /// The body as an app sends it.
    var clientBody: String {
        let created = (0..<3).map { client(id(number, $0), status: "created") }.joined(separator: ",")
        return #"{"changes":{"assets":{"created":[\#(created)],"#
            + #""updated":[\#(client(id(number - 1, 0), status: "updated"))],"#
            + #""deleted":["\#(id(number - 1, 1))"]}}}"#
    }

    /// The lines that a gateway makes of it.
    var streamBody: String {
        (0..<3).map { line("create", id(number, $0)) }.joined() + line("update", id(number - 1, 0))
            + #"{"op":"delete","table":"assets","id":"\#(id(number - 1, 1))","key":{"id":"\#(id(number - 1, 1))"}}"#
            + "\n"
    }

    private func id(_ number: Int, _ record: Int) -> String { "c\(caller)-\(number)-\(record)" }

    private func client(_ id: String, status: String) -> String {
        #"{"id":"\#(id)","_status":"\#(status)","_changed":"\#(status == "updated" ? "file_name" : "")","#
            + #""owner_id":"\#(Self.owner)","file_name":"IMG_20240131_\#(number).jpeg","checksum":"\#(Self.checksum)","#
            + #""taken_at":1706659200000,"modified_at":1706659260000,"is_favorite":false,"width":4032,"height":3024}"#
    }

    private func line(_ operation: String, _ id: String) -> String {
        #"{"op":"\#(operation)","table":"assets","id":"\#(id)","key":{"id":"\#(id)"},"#
            + #""data":{"ownerId":"\#(Self.owner)","originalFileName":"IMG_20240131_\#(number).jpeg","#
            + #""checksum":"\#(Self.checksum)","localDateTime":"2024-01-31T00:00:00.000Z","#
            + #""fileModifiedAt":"2024-01-31T00:01:00.000Z","isFavorite":false,"width":4032,"height":3024}}"# + "\n"
    }

    private static let owner = "6c1bb5a2-1d1c-4c1d-9a55-0d8f0a3f8f11"
    private static let checksum = "q6a0k1v5w0s2m8u3y7b4n9c2x1z="
}
