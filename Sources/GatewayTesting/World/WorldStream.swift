// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes

// Used by the one thread of its world, as WorldBackend is.
/// One answer of the simulated backend's stream, as lines of JSON.
final class WorldStream: @unchecked Sendable {
    private let backend: WorldBackend
    private var stream: SimulatedStream
    private var isEnded = false

    enum Item {
        /// A query ran.
        case nothing
        case line([UInt8])
        case end
    }

    init(backend: WorldBackend, types: [String], session: String?, carried: [String: String]) {
        self.backend = backend
        stream = SimulatedStream(&backend.users.backend, types: types, session: session, carried: carried)
    }

    func next() -> Item {
        guard !isEnded else { return .end }
        switch stream.next(&backend.users.backend) {
        case .query:
            WorldSync.current?.note(overtaken: stream.overtaken)
            return .nothing
        case .line(let line):
            if case .row(let key, _, _) = line.content {
                WorldSync.current?.noteSeen(key, isChange: stream.resumes(line.type))
            }
            return .line(bytes(line))
        case .reset:
            isEnded = true
            return .line(Self.bytes(type: "SyncResetV1", data: "{}", token: SimulatedSchema.resetToken))
        case .complete(let token):
            isEnded = true
            return .line(Self.bytes(type: SimulatedSchema.complete, data: "{}", token: token))
        }
    }

    private func bytes(_ line: SimulatedStream.Line) -> [UInt8] {
        let ids = backend.users.backend.ids
        var data = "{}"
        switch line.content {
        case .acknowledgement: break
        case .purge(let owner): data = #"{"owner":"\#(owner)"}"#
        case .deletion(let id): data = #"{"id":"\#(id)"}"#
        case .row(let key, let record, .none):
            var writer = JSONWriter()
            writer.append(record.json(key, as: ids))
            data = String(decoding: writer.bytes, as: UTF8.self)
        case .row(let key, _, .unreadable):
            // Nested deeper than anybody reads.
            let depth = 80
            data =
                #"{"id":"\#(ids.id(of: key))","value":\#(String(repeating: "[", count: depth))\#(String(repeating: "]", count: depth))}"#
        case .row(_, let record, .withoutID): data = #"{"value":\#(record.value)}"#
        }
        return Self.bytes(type: line.type, data: data, token: line.token)
    }

    private static func bytes(type: String, data: String, token: String) -> [UInt8] {
        Array(#"{"type":"\#(type)","data":\#(data),"ack":"\#(token)"}"#.utf8) + [UInt8(ascii: "\n")]
    }
}
