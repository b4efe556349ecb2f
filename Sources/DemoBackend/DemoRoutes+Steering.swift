// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird

/// The routes by which tests in other processes, and users with curl, control the backend; only if the configuration
/// allows it.
extension DemoRoutes {
    func addSteering(to router: Router<DemoContext>) {
        router.post("/_demo/edit") { request, _ in
            let body = try await members(of: request)
            let edits = try (body["edits"]?.array ?? [.object(body)]).map(DemoEdit.init)
            try await backend.edit(as: body["as"]?.string ?? DemoConfiguration.Account.ada.id, edits)
            return Response(status: .noContent)
        }
        router.post("/_demo/fault") { request, _ in
            let body = try await members(of: request)
            if body["clear"]?.bool == true {
                backend.clearFaults()
            } else if let random = RandomFaults(body) {
                backend.inject(random)
            } else {
                backend.inject(try DemoFault(body))
            }
            return Response(status: .noContent)
        }
        router.post("/_demo/reject") { request, _ in
            let body = try await members(of: request)
            backend.rejectedIDs = Set(body["ids"]?.array?.compactMap(\.keyText) ?? [])
            backend.rejectedTexts = Set(body["texts"]?.array?.compactMap(\.string) ?? [])
            return Response(status: .noContent)
        }
        router.post("/_demo/retire") { request, _ in
            backend.retirement = try DemoRetirement(try await members(of: request))
            return Response(status: .noContent)
        }
        router.post("/_demo/clock") { request, _ in
            let body = try await members(of: request)
            if let moment = body["set"]?.number { backend.clock.set(Int64(moment)) }
            if let seconds = body["advance"]?.number { backend.clock.advance(by: Int64(seconds * 1000)) }
            if body["real"]?.bool == true { backend.clock.reset() }
            return Response(json: ["now": .number(Double(backend.clock.now))])
        }
        router.post("/_demo/seed") { request, _ in
            let body = try await members(of: request)
            var seed = DemoSeed()
            if let tasks = body["tasks"]?.number { seed.tasks = Int(tasks) }
            if let projects = body["projects"]?.number { seed.projects = max(1, Int(projects)) }
            try await backend.seed(seed)
            return Response(status: .noContent)
        }
        router.get("/_demo/dump") { request, _ in
            let user = request.uri.queryParameters["user"].map(String.init) ?? DemoConfiguration.Account.ada.id
            let tables = try await backend.records(of: user)
            return Response(json: .object(tables.mapValues { .object($0) }))
        }
    }
}

extension DemoEdit {
    /// Reads `{"put":table,"record":{…}}`, `{"delete":table,"id"|"key"}`, `{"share"|"revoke":project,"user"}` or
    /// `{"shareTask"|"unshareTask":task,"user"}`.
    init(_ value: DemoValue) throws {
        let user = value["user"]?.string
        if let table = value["put"]?.string, let record = value["record"]?.object {
            self = .put(table, record)
        } else if let table = value["delete"]?.string, let id = value["id"]?.keyText {
            self = .delete(table, id)
        } else if let table = value["delete"]?.string, let key = value["key"]?.array?.compactMap(\.string) {
            self = .delete(table, key)
        } else if let project = value["share"]?.string, let user {
            self = .share(project: project, with: user, role: value["role"]?.string ?? "editor")
        } else if let project = value["revoke"]?.string, let user {
            self = .revoke(project: project, from: user)
        } else if let task = value["shareTask"]?.string, let user {
            self = .shareTask(task, with: user)
        } else if let task = value["unshareTask"]?.string, let user {
            self = .unshareTask(task, from: user)
        } else {
            throw DemoError.badRequest("no edit: \(value.json)")
        }
    }
}

extension DemoRetirement {
    /// Reads `{"types":["TasksV1"],"style":"names"|"lists"|"late"}`.
    init(_ body: [String: DemoValue]) throws {
        let types = body["types"]?.array?.map { $0.string ?? "" }
        guard let types, types.allSatisfy(StreamType.requests.contains) else {
            throw DemoError.badRequest("types must be an array of request types")
        }
        guard let style = Style(rawValue: body["style"]?.string ?? "late") else {
            throw DemoError.badRequest("style must be names, lists or late")
        }
        self.init(Set(types), style: style)
    }
}

extension DemoFault {
    /// Reads `{"method","path","skip","times","status","retryAfter"}`; the status may be replaced by
    /// `"statusAfterwards":status`, `"loseRequest":true`, `"loseAnswer":true`, `"delay":ms` or the stream's
    /// `cutAfterLines`, `cutAfterBytes`, `endAfterLines`, `stallAfterLines`, `delayPerLine`, `omitsComplete` and
    /// `malformed` (name by line number).
    init(_ body: [String: DemoValue]) throws {
        func number(_ name: String) -> Int? { body[name]?.number.map { Int($0) } }
        self.init(
            body["method"]?.string, body["path"]?.string, skipping: max(0, number("skip") ?? 0),
            times: number("times") ?? 1, action: .loseAnswer)
        if let status = number("status") {
            guard (400...599).contains(status) else { throw DemoError.badRequest("status must be 400 to 599") }
            action = .status(status, retryAfter: number("retryAfter"))
        } else if let status = number("statusAfterwards") {
            guard (400...599).contains(status) else { throw DemoError.badRequest("status must be 400 to 599") }
            action = .statusAfterwards(status)
        } else if body["loseRequest"]?.bool == true {
            action = .loseRequest
        } else if let delay = number("delay") {
            action = .delay(delay)
        } else if body["loseAnswer"]?.bool != true {
            method = method ?? "POST"
            path = path ?? "/sync/stream"
            var stream = Stream()
            stream.cutAfterLines = number("cutAfterLines")
            stream.cutAfterBytes = number("cutAfterBytes")
            stream.endAfterLines = number("endAfterLines")
            stream.stallAfterLines = number("stallAfterLines")
            stream.delayPerLine = number("delayPerLine")
            stream.omitsComplete = body["omitsComplete"]?.bool ?? false
            for (line, name) in body["malformed"]?.object ?? [:] {
                guard let line = Int(line), let malformation = Malformation(name: name.string ?? "") else {
                    throw DemoError.badRequest("malformed must be an object of names by line number")
                }
                stream.malformed[line] = malformation
            }
            action = .stream(stream)
        }
    }
}

extension RandomFaults {
    /// Reads `{"seed","probability","delay"}`; nil if there is no seed.
    fileprivate init?(_ body: [String: DemoValue]) {
        guard let seed = body["seed"]?.number.flatMap({ UInt64(exactly: $0) }) else { return nil }
        self.init(
            seed: seed, probability: body["probability"]?.number ?? 0.2,
            delay: body["delay"]?.number.flatMap { Int(exactly: $0) } ?? 400)
    }
}

extension DemoFault.Malformation {
    fileprivate init?(name: String) {
        let plain: [Self] = [
            .invalidJSON, .invalidUTF8, .noID, .wrongTypes, .notAnObject, .unknownTypeBefore, .garbageBefore,
            .blankBefore, .duplicate, .noAck,
        ]
        if name == "overlong" {
            self = .overlong(32 << 20)
        } else if let found = plain.first(where: { "\($0)" == name }) {
            self = found
        } else {
            return nil
        }
    }
}
