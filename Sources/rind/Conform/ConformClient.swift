// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Curl
import HTTPTypes
import JSONBytes
import NIOCore

/// The form of requests: those of the documentation, and those that many apps use instead.
enum ConformShape: String, CaseIterable, ExpressibleByArgument {
    /// `GET` with `last_pulled_at`, `schema_version` and `migration`; a push is `text/plain`.
    case docs
    /// The same with pushes of the type `application/json`.
    case docsJSON = "docs-json"
    /// The same without `schema_version` and `migration`.
    case docsOld = "docs-old"
    /// `GET` with `lastPulledAt`, 0 on a first pull; a push is `{changes, lastPulledAt}`.
    case camel
    /// `POST` to `/pull` and `/push` below the URL.
    case postPull = "post-pull"

    /// True if `fetch` names no type for the text of a push, and thus sends `text/plain`.
    var pushesText: Bool { self == .docs || self == .docsOld }
}

/// One request of `rind conform` and its answer.
struct ConformExchange {
    /// The request in a line or two.
    var sent: String
    /// The answer; nil if none came.
    var answer: HTTPExchange?
    /// The reason why no answer came.
    var reason = ""

    /// True if the status is one of success.
    var isSuccess: Bool { answer?.isSuccess ?? false }

    /// The answer's status and the beginning of its body.
    var came: String {
        guard let answer else { return "no answer: \(reason)" }
        return "\(answer.status) \(answer.sentence)"
    }
}

/// Sends the requests of an app with WatermelonDB in it.
struct ConformClient {
    let url: String
    let fields: HTTPFields
    var shape: ConformShape
    let schemaVersion: Int?
    let reactor: CurlReactor

    /// Pulls what came after a timestamp, or everything.
    func pull(since timestamp: Int64?, migration: JSONValue = .null) async -> ConformExchange {
        switch shape {
        case .postPull:
            var members: [JSONValue.Member] = [.init("lastPulledAt", timestamp.map { .integer($0) } ?? .null)]
            if let schemaVersion { members.append(.init("schemaVersion", .integer(Int64(schemaVersion)))) }
            return await send(
                CurlRequest(method: .post, url: url(appending: "/pull")),
                .object(members + [.init("migration", migration)]), type: "application/json")
        case .camel:
            let time = String(timestamp ?? 0)
            return await get([("lastPulledAt", time)] + versionArguments("schemaVersion", migration))
        case .docs, .docsJSON:
            let time = timestamp.map(String.init) ?? "null"
            return await get([("last_pulled_at", time)] + versionArguments("schema_version", migration))
        case .docsOld: return await get([("last_pulled_at", timestamp.map(String.init) ?? "null")])
        }
    }

    /// Pushes changes that were made after a timestamp.
    func push(_ changes: JSONValue, since timestamp: Int64) async -> ConformExchange {
        switch shape {
        case .docs, .docsOld, .docsJSON:
            let request = CurlRequest(method: .post, url: url(with: [("last_pulled_at", String(timestamp))]))
            return await send(
                request, changes, type: shape.pushesText ? "text/plain;charset=UTF-8" : "application/json")
        case .camel, .postPull:
            let body = JSONValue.object([.init("changes", changes), .init("lastPulledAt", .integer(timestamp))])
            let address = shape == .camel ? url : url(appending: "/push")
            return await send(CurlRequest(method: .post, url: address), body, type: "application/json")
        }
    }

    private func versionArguments(_ name: String, _ migration: JSONValue) -> [(String, String)] {
        let version = schemaVersion.map { [(name, String($0))] } ?? []
        return version + [("migration", String(decoding: migration.serialised, as: UTF8.self))]
    }

    private func url(with arguments: [(String, String)]) -> String {
        let query = arguments.map { "\($0.0)=\(PullCommand.escaped($0.1))" }.joined(separator: "&")
        return url + (url.contains("?") ? "&" : "?") + query
    }

    /// Returns the URL with more of a path, before its query.
    private func url(appending path: String) -> String {
        let end = url.firstIndex(of: "?") ?? url.endIndex
        return url[..<end] + path + url[end...]
    }

    private func get(_ arguments: [(String, String)]) async -> ConformExchange {
        await send(CurlRequest(method: .get, url: url(with: arguments)), nil, type: nil)
    }

    private func send(_ request: CurlRequest, _ body: JSONValue?, type: String?) async -> ConformExchange {
        var request = request
        for field in fields { request.fields.append(field) }
        request.timeouts = CurlTimeouts(firstByte: .seconds(300), idle: .seconds(120))
        var exchange = ConformExchange(sent: "\(request.method.rawValue) \(request.url)")
        if let body {
            let text = String(decoding: body.serialised, as: UTF8.self)
            exchange.sent += " \(text.shown(upTo: 1_000))"
            if let type { request.fields[.contentType] = type }
            request.body = .bytes(ByteBuffer(string: text))
        }
        do {
            exchange.answer = try await HTTPExchange.run(request, reactor)
        } catch {
            exchange.reason = (error as? CurlError).map(PullCommand.reason) ?? "\(error)"
        }
        return exchange
    }
}
