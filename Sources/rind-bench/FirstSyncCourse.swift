// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Gzip
import NIOCore
import NIOHTTP1

/// Runs the servers of ``FirstSync`` and measures them in turns.
final class FirstSyncCourse {
    /// One way from the backend to the client.
    private final class Contestant {
        let name: String
        let server: ServerProcess
        let method: HTTPMethod
        let path: String
        /// True if the answer is one JSON document, not the stream.
        let translates: Bool
        let version: String
        var samples: [FirstSyncReport.Sample] = []
        /// The length of its answer without compression, once that was looked into.
        var inflatedBytes: Int?

        init(_ name: String, _ server: ServerProcess, translates: Bool, version: String) {
            self.name = name
            self.server = server
            self.translates = translates
            self.version = version
            method = translates ? .GET : .POST
            path = translates ? "/sync" : "/sync/stream"
        }
    }

    /// The reasons why a figure would mean nothing.
    enum Failure: Error, CustomStringConvertible {
        case refused(name: String, status: UInt, output: String)
        case wrongCount(name: String, found: Int, expected: Int)
        case differ(first: String, second: String, offset: Int, texts: [String])

        var description: String {
            switch self {
            case .refused(let name, let status, let output): "\(name) answered \(status); its last words:\n\(output)"
            case .wrongCount(let name, let found, let expected):
                "\(name) answered \(found) records instead of \(expected)"
            case .differ(let first, let second, let offset, let texts):
                "the answers of \(first) and \(second) differ at byte \(offset):\n" + texts.joined(separator: "\n")
            }
        }
    }

    private let rows: Int
    private let isCompressed: Bool
    private let directory: URL
    private let backend: ServerProcess
    private var contestants: [Contestant] = []
    private var notes: [String] = []
    private let client = DrainClient()

    /// Starts every server that is installed; each missing one becomes a note.
    init(
        rows: Int, directory: URL, withNginx: Bool, withNode: Bool, isNginxBuffering: Bool,
        isCompressed: Bool, other: String?
    ) async throws {
        self.rows = rows
        self.isCompressed = isCompressed
        self.directory = directory
        let port = try await ServerProcess.freePort()
        backend = try ServerProcess(
            "backend", executable: Tools.own, arguments: ["serve-stream", "--rows", "\(rows)", "--port", "\(port)"],
            port: port,
            directory: directory)
        do {
            try await backend.waitUntilReady()
            contestants.append(Contestant("direct", backend, translates: false, version: "no hop in between"))
            if withNginx { try await addNginx(isBuffering: isNginxBuffering) }
            try await addGateway("rind", Tools.rind)
            if let other { try await addGateway("other", other) }
            if withNode { try await addNode() }
            for contestant in contestants { try await contestant.server.waitUntilReady() }
        } catch {
            await stop()
            throw error
        }
    }

    /// Ends all servers.
    func stop() async {
        for contestant in contestants { await contestant.server.stop() }
        await backend.stop()
    }

    private func addNginx(isBuffering: Bool) async throws {
        guard let nginx = Tools.find("nginx") else {
            notes.append("nginx is not installed: there is nothing to compare with (apt-get install nginx-light).")
            return
        }
        let port = try await ServerProcess.freePort()
        let file = try write(
            NginxBaseline.configuration(
                port: port, backendPort: backend.port, isBuffering: isBuffering, isCompressing: isCompressed,
                directory: directory),
            to: "nginx.conf")
        let server = try ServerProcess(
            "nginx", executable: nginx, arguments: ["-p", directory.path, "-c", file, "-e", "stderr"], port: port,
            directory: directory)
        let version = Tools.version(nginx, "-v") + ", proxy_buffering \(isBuffering ? "on" : "off")"
        contestants.append(Contestant("nginx", server, translates: false, version: version))
    }

    private func addGateway(_ name: String, _ path: String?) async throws {
        guard let path else {
            notes.append("rind is not beside rind-bench: build it with 'swift build -c release --product rind'.")
            return
        }
        let port = try await ServerProcess.freePort()
        let state = directory.appendingPathComponent("\(name).db")
        // Every pull is a first one of the same caller: none may go on from where the one before has ended.
        let configuration = GatewayBaseline.configuration(
            port: port, backendPort: backend.port, state: state, settings: "[pull]\nrepeat_window = 0s\n")
        let file = try write(configuration, to: "\(name).ini")
        let server = try ServerProcess(
            name, executable: path, arguments: ["serve", "--config", file], port: port, directory: directory)
        contestants.append(Contestant(name, server, translates: true, version: Tools.version(path, "version")))
    }

    private func addNode() async throws {
        guard let node = Tools.find("node") else {
            notes.append("node is not installed: the gateway in Node.js is left out (apt-get install nodejs).")
            return
        }
        let port = try await ServerProcess.freePort()
        let file = try write(NodeBaseline.script, to: "gateway.js")
        let server = try ServerProcess(
            "node", executable: node, arguments: [file, "\(port)", "\(backend.port)"], port: port, directory: directory)
        let version = "node " + Tools.version(node, "--version")
        contestants.append(Contestant("node", server, translates: true, version: version))
    }

    private func write(_ text: String, to name: String) throws -> String {
        let file = directory.appendingPathComponent(name)
        try text.write(to: file, atomically: true, encoding: .utf8)
        return file.path
    }

    /// Compares the answers once, then measures all ways in turns.
    func measure(runs: Int) async throws -> FirstSyncReport {
        let machine = Machine.current
        let bytes = try await compareAnswers()
        for run in 1...runs {
            Text.note("run \(run) of \(runs)")
            for contestant in contestants { contestant.samples.append(try await sample(contestant)) }
        }
        return FirstSyncReport(
            rows: rows, backendBytes: bytes, isCompressed: isCompressed, machine: machine, notes: notes,
            ways: contestants.map { contestant in
                FirstSyncReport.Way(
                    name: contestant.name, version: contestant.version, samples: contestant.samples,
                    peakResidentBytes: contestant.server.peakResidentBytes)
            })
    }

    private func sample(_ contestant: Contestant) async throws -> FirstSyncReport.Sample {
        let before = contestant.server.processorSeconds
        let answer = try await fetch(contestant)
        let after = contestant.server.processorSeconds
        return FirstSyncReport.Sample(
            wallSeconds: answer.wall / .seconds(1), answerBytes: answer.bytes,
            processorSeconds: before.flatMap { before in after.map { $0 - before } })
    }

    /// Fetches once; throws if the status or the number of records is wrong.
    private func fetch(_ contestant: Contestant, keepsBody: Bool = false) async throws -> DrainClient.Answer {
        var answer = try await client.fetch(
            contestant.method, contestant.path, port: contestant.server.port, keepsBody: keepsBody,
            acceptsGzip: isCompressed)
        guard answer.status == .ok else {
            throw Failure.refused(
                name: contestant.name, status: answer.status.code, output: contestant.server.lastWords)
        }
        if answer.isGzip { try check(&answer, of: contestant, isKept: keepsBody) }
        guard answer.records == rows else {
            throw Failure.wrongCount(name: contestant.name, found: answer.records, expected: rows)
        }
        return answer
    }

    /// Inflates a compressed answer that was kept and counts its records; of any other, the length must be the same.
    private func check(_ answer: inout DrainClient.Answer, of contestant: Contestant, isKept: Bool) throws {
        if isKept {
            let inflater = try Inflater(limit: .max)
            var (input, body, counter) = (answer.body, ByteBuffer(), MarkCounter(AssetStream.recordMark))
            while var piece = try inflater.next(from: &input) {
                piece.withUnsafeReadableBytes { counter.feed($0) }
                body.writeBuffer(&piece)
            }
            try inflater.finish()
            contestant.inflatedBytes = body.readableBytes
            (answer.body, answer.records) = (body, counter.count)
        } else if answer.inflatedBytes == contestant.inflatedBytes {
            answer.records = rows
        }
    }

    /// Runs the first round, which is not measured: all ways that translate must give the same bytes, except newlines
    /// and the cursor.
    ///
    /// - Returns: The number of bytes that the backend streams.
    private func compareAnswers() async throws -> Int {
        var streamed = 0
        var first: (name: String, body: [UInt8])?
        for contestant in contestants {
            let answer = try await fetch(contestant, keepsBody: contestant.translates || isCompressed)
            guard contestant.translates else {
                streamed = max(streamed, answer.bytes)
                continue
            }
            let body = Self.withoutCursor(answer.body)
            if let first {
                if let offset = Self.firstDifference(first.body, body) {
                    let texts = [first.body, body].map { Self.excerpt($0, around: offset) }
                    throw Failure.differ(first: first.name, second: contestant.name, offset: offset, texts: texts)
                }
            } else {
                first = (contestant.name, body)
            }
        }
        return streamed
    }

    private static func withoutCursor(_ body: ByteBuffer) -> [UInt8] {
        let bytes = Array(body.readableBytesView)
        // The cursor is the last member; white space before the document may have kept the connection alive.
        let end = bytes.lastIndex(of: UInt8(ascii: ",")) ?? bytes.count
        // A newline is white space between elements: JSON does not allow it inside a string (RFC 8259 section 7).
        return bytes[..<end].drop { $0 <= 0x20 }.filter { $0 != UInt8(ascii: "\n") }
    }

    /// Returns the text around an offset, so that a difference can be read.
    private static func excerpt(_ body: [UInt8], around offset: Int) -> String {
        String(decoding: body[max(0, offset - 80)..<min(body.count, offset + 80)], as: UTF8.self)
    }

    private static func firstDifference(_ a: [UInt8], _ b: [UInt8]) -> Int? {
        if a == b { return nil }
        return zip(a, b).enumerated().first { $1.0 != $1.1 }?.offset ?? min(a.count, b.count)
    }
}
