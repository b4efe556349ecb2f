// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB

/// A stream push: operations that are applied in one transaction, or not at all.
struct Push: Sendable {
    static let maximumOperations = 100_000

    /// One line of a push.
    struct Operation: Sendable {
        enum Kind: String {
            case create, update, delete
        }
        let kind: Kind
        let entity: Entity
        let id: String
        let key: [String]
        let data: [String: DemoValue]
        let base: String?
    }

    /// The answer to a push.
    struct Answer: Sendable {
        let status: Int
        let body: String
    }

    /// The operations of the lines, with an error for each line that could not be read.
    private let lines: [Result<Operation, InvalidMember>]

    /// Reads the lines of a body.
    ///
    /// - Throws: A 400 if a line is no JSON object or there are too many.
    init(lines text: String, acceptsClientIDs: Bool, makeID: () -> String) throws {
        let texts = text.utf8.split(separator: 0x0A).filter { $0.contains { $0 > 0x20 } }
        guard texts.count <= Self.maximumOperations else { throw DemoError.badRequest("too many operations") }
        lines = try texts.enumerated().map { number, line in
            guard let object = DemoValue(parsing: line)?.object else {
                throw DemoError.badRequest("line \(number) is no JSON object")
            }
            do {
                return .success(try Operation(object, acceptsClientIDs: acceptsClientIDs, makeID: makeID))
            } catch let error as InvalidMember {
                return .failure(error)
            }
        }
    }

    /// Applies all lines; if one is refused, the rest are still tried, so that the answer names every refusal.
    ///
    /// - Returns: The answer; unless its status is 200, the transaction must be rolled back.
    func apply(with records: RecordGuard) throws -> Answer {
        var done: [DemoValue] = []
        var refused: [DemoValue] = []
        var isConflict = false
        for (number, line) in lines.enumerated() {
            let line0 = DemoValue.number(Double(number))
            do {
                let operation = try line.get()
                try operation.apply(with: records)
                done.append(["line": line0, "outcome": "ok", "id": .string(operation.id)])
            } catch let refusal as RecordGuard.Refusal {
                isConflict = isConflict || refusal.outcome != .rejected
                let operation = try? line.get()
                refused.append([
                    "line": line0, "table": .string(operation?.entity.name ?? ""), "id": .string(operation?.id ?? ""),
                    "outcome": .string(refusal.outcome.rawValue), "message": .string(refusal.message),
                ])
            } catch let error as InvalidMember {
                refused.append(["line": line0, "outcome": "rejected", "message": .string(error.message)])
            }
        }
        if refused.isEmpty { return Answer(status: 200, body: DemoValue.object(["results": .array(done)]).json) }
        return Answer(
            status: isConflict ? 409 : 422, body: DemoValue.object(["results": .array(refused)]).json)
    }
}

extension Push.Operation {
    init(_ line: [String: DemoValue], acceptsClientIDs: Bool, makeID: () -> String) throws(InvalidMember) {
        guard let kind = line["op"]?.string.flatMap(Kind.init) else {
            throw InvalidMember("op must be create, update or delete")
        }
        guard let entity = line["table"]?.string.flatMap(Entity.named) else { throw InvalidMember("unknown table") }
        guard !entity.isNumbered else { throw InvalidMember("\(entity.name) are written by REST calls only") }
        guard let id = line["id"]?.string, !id.isEmpty, id.utf8.count <= 255 else {
            throw InvalidMember("id must be a string of 1 to 255 bytes")
        }
        guard !id.utf8.contains(0) else { throw InvalidMember("id contains a NUL character") }
        self.kind = kind
        self.entity = entity
        data = line["data"]?.object ?? [:]
        base = line["base"]?.string
        var key: [String] = []
        for field in entity.keys {
            let part = line["key"]?[field.name]?.string ?? (entity.keys.count == 1 ? id : data[field.name]?.string)
            guard let part, !part.isEmpty, !part.utf8.contains(0) else {
                throw InvalidMember("key lacks \(field.name)")
            }
            key.append(part)
        }
        if kind == .create, !acceptsClientIDs, entity.keys.count == 1 {
            key = [makeID()]
            self.id = key[0]
        } else {
            self.id = id
        }
        self.key = key
    }

    func apply(with records: RecordGuard) throws {
        switch kind {
        case .create: try records.create(entity, key: key, data: data, base: base)
        case .update: try records.update(entity, key: key, data: data, base: base)
        case .delete: try records.delete(entity, key: key, base: base)
        }
    }
}
