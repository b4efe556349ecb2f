// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GatewayTesting
import SyncModel

/// Sends exchanges to a gateway, many at a time, and judges what comes back.
struct MutationCourse: Sendable {
    static let workers = 32
    /// Far more than any exchange needs, however busy the machine.
    static let patience = Duration.seconds(300)

    let http: RawHTTPClient
    let journal: MutationJournal
    let seed: UInt64

    /// Plays exchanges of a worker, one after the other.
    func play(_ numbers: some Sequence<Int> & Sendable, worker: Int) async throws {
        var cursor: Int64?
        var rest = Array(numbers)[...]
        while !rest.isEmpty, journal.failures.isEmpty {
            try await http.withConnection { connection in
                var isFresh = true
                while let number = rest.first, journal.failures.isEmpty {
                    let next = await play(number, on: connection, isFresh: isFresh, worker: worker, &cursor)
                    if next != .again { rest.removeFirst() }
                    guard next == .keep else { return }
                    isFresh = false
                }
            }
        }
    }

    /// The damage that belongs to an exchange, and to one call that the backend gets for it.
    static func mutator(_ seed: UInt64, _ number: Int, call: Int = 0) -> ByteMutator {
        ByteMutator(random: SeededGenerator(seed: seed &* 0xD134_2543_DE82_EF95 &+ UInt64(number) << 8 &+ UInt64(call)))
    }

    private enum Next {
        case keep, close
        /// A server may close a connection that was kept; then a request is sent again, as clients do.
        case again
    }

    private func play(
        _ number: Int, on connection: RawHTTPConnection, isFresh: Bool, worker: Int, _ cursor: inout Int64?
    ) async -> Next {
        var maker = RequestMutator(
            requests: GenuineRequests(worker: worker, cursor: cursor), mutator: Self.mutator(seed, number))
        let exchange = maker.exchange()
        journal.begin(number, exchange, worker: worker)
        var outcomes: [String] = []
        defer { journal.end(outcomes, worker: worker) }
        for piece in exchange.pieces { await connection.write(piece) }
        if exchange.ending == .hangUp {
            outcomes.append("hung up")
            return .close
        }
        if exchange.ending == .halfClose { connection.finishWriting() }
        var answers = 0
        do {
            while exchange.ending == .halfClose || answers < exchange.methods.count {
                let isKnown = answers < exchange.methods.count
                let answer = try await connection.answer(to: isKnown ? exchange.methods[answers] : "GET")
                guard answer.status != 0 else { break }
                answers += 1
                outcomes.append(answer.outcome + (answer.isComplete ? "" : " cut"))
                judge(answer, exchange, number, worker)
                cursor = Self.cursor(of: answer) ?? cursor
                guard answer.isComplete, answer["Connection"]?.lowercased() != "close" else { return .close }
            }
        } catch {
            journal.fail("the gateway's answer is no HTTP: \(error)", worker: worker)
            return .close
        }
        if answers == 0, !exchange.methods.isEmpty {
            outcomes.append(isFresh ? "none" : "again")
            if !isFresh { return .again }
            journal.fail("a whole request got no answer", worker: worker)
        }
        if answers == 0, exchange.methods.isEmpty { outcomes.append("none") }
        return exchange.ending == .keep && answers == exchange.methods.count ? .keep : .close
    }

    private func judge(_ answer: RawAnswer, _ exchange: MutatedExchange, _ number: Int, _ worker: Int) {
        if let code = answer.errorCode, answer.status == 500 || code.hasPrefix("internal") {
            journal.fail("status \(answer.status), \(code)", worker: worker)
        }
        guard let mark = answer["X-Trial"] else { return }
        if mark == AnswerMutator.smuggled { journal.fail("the answer stood behind another one", worker: worker) }
        // Whose credential was damaged may have sent another worker's.
        guard ["valid", "content", "pipelined"].contains(exchange.kind), mark != Self.mark(number) else { return }
        // One that was damaged on its way has two different halves, or more of them.
        let halves = mark.split(separator: "-", omittingEmptySubsequences: false)
        if halves.count == 2, halves[0] == halves[1], Int(halves[0]) != nil {
            journal.fail("the answer belongs to another request, \(mark)", worker: worker)
        }
    }

    /// What tells whose answer an answer is.
    static func mark(_ number: Int) -> String { "\(number)-\(number)" }

    private static func cursor(of answer: RawAnswer) -> Int64? {
        guard answer.status == 200, answer.body.count > 20, answer["X-Trial"] == nil else { return nil }
        let end = String(decoding: answer.body.suffix(64), as: UTF8.self)
        guard let place = end.firstRange(of: #""timestamp":"#) else { return nil }
        return Int64(end[place.upperBound...].prefix(while: \.isNumber))
    }
}
