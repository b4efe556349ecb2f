// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Deduplication
import LineProjection
import Logging
import SyncModel
import Testing

@testable import Gateway

/// How much of an answer is read at once, and how much memory it takes, while its client takes it.
@Suite struct SendingPaceTests {
    @Test func `pieces are large only for a client that was prompt for longer than buffers explain`() {
        var pace = SendingPace()
        for _ in 1..<SendingPace.promptWaits { #expect(pace.waited(isPrompt: true) == .stay) }
        #expect(pace.waited(isPrompt: true) == .grow)
        #expect(pace.pieceSize == SendingPace.firstPiece)
        pace.grow()
        #expect(pace.pieceSize == SendingPace.largePiece && pace.waited(isPrompt: true) == .stay)
        #expect(pace.waited(isPrompt: false) == .shrink)
        #expect(pace.pieceSize == SendingPace.smallPiece && pace.waited(isPrompt: false) == .stay)
        #expect(pace.waited(isPrompt: true) == .stay)
    }

    @Test func `waits that are not prompt use up the patience, and prompt ones do not`() {
        var pace = SendingPace()
        let whole = pace.patience
        for _ in 0..<100 { _ = pace.waited(isPrompt: true) }
        #expect(pace.patience == whole)
        for _ in 0..<9 { _ = pace.waited(isPrompt: false) }
        #expect(pace.patience == whole - SendingPace.promptness * 9)
        for _ in 0..<9 { _ = pace.waited(isPrompt: false) }
        #expect(pace.patience == .zero)
    }

    /// A client that has room after so many waits that may end without.
    private final class Client: AnswerSink {
        let isCompressed: Bool
        private let refusals: Int
        private(set) var waits = 0
        private(set) var patiences: [Duration?] = []

        init(refusals: Int, isCompressed: Bool = false) {
            self.refusals = refusals
            self.isCompressed = isCompressed
        }

        func waitForRoom(for patience: Duration?) async throws -> Bool {
            patiences.append(patience)
            waits += 1
            return patience == nil || waits > refusals
        }

        func write(_ piece: [UInt8]) async throws {}
    }

    /// An answer of ten chunks in memory and a budget that counts it.
    private func answer(_ directory: String = "/tmp") async throws -> (FinishedSpool, SpoolBudget, SpoolLease) {
        let budget = SpoolBudget(memory: 64 << 20, disk: 64 << 20) { _ in false }
        let principal = Principal(rawValue: "ada")
        var spooler = StreamSpooler(
            projection: Projection(schema: Schema(tables: []), schemaVersion: 1), hashKey: SipHash.Key(1, 2),
            intakeLimits: StreamIntake.Limits(),
            spoolLimits: Spool.Limits(files: DiskSpoolFiles(directory: directory), memory: 8 << 20, total: 8 << 20),
            lease: { budget.lease(for: principal) })
        for _ in 0..<10 { try await spooler.spool.append([UInt8](repeating: 7, count: 100_000)) }
        let spool = try await spooler.finish(DiffedLines(verdicts: []), absences: [])
        return (spool, budget, try spool.makeRoomToSend(budget.lease(for: principal)))
    }

    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    @Test func `the answer of a client that takes everything promptly stays in memory`() async throws {
        let (spool, budget, room) = try await answer()
        var sender = AnswerSender(spool, to: Client(refusals: 0), room: room, logger: Self.logger)
        for _ in 0..<10 { #expect(try await sender.prepareToRead(at: 0) == SendingPace.firstPiece) }
        #expect(spool.spool.memoryLength == 1_000_000 && budget.held.disk == 0)
    }

    @Test(arguments: [false, true])
    func `the answer of a client that takes its time goes to a file, and holds what sending takes`(
        isCompressed: Bool
    ) async throws {
        let (spool, budget, room) = try await answer()
        let client = Client(refusals: 2, isCompressed: isCompressed)
        var sender = AnswerSender(spool, to: client, room: room, logger: Self.logger)
        #expect(try await sender.prepareToRead(at: 0) == SendingPace.smallPiece)
        #expect(client.patiences.map { $0 != nil } == [true, true, false])
        let memory = SendingPace.memory + (isCompressed ? SendingPace.compressorMemory : 0)
        #expect(budget.held == SpoolBudget.Held(memory: memory, disk: 1_000_000))
    }

    @Test func `a client that is patient with its own slowness but not slow for long keeps the memory`() async throws {
        let (spool, budget, room) = try await answer()
        var sender = AnswerSender(spool, to: Client(refusals: 1), room: room, logger: Self.logger)
        _ = try await sender.prepareToRead(at: 0)
        #expect(spool.spool.memoryLength == 1_000_000 && budget.held.disk == 0)
    }

    @Test func `an answer that no file can be made for is sent from memory, and is not moved again`() async throws {
        let (spool, budget, room) = try await answer("/nowhere/at/all")
        let client = Client(refusals: 4)
        var sender = AnswerSender(spool, to: client, room: room, logger: Self.logger)
        _ = try await sender.prepareToRead(at: 0)
        _ = try await sender.prepareToRead(at: 100_000)
        #expect(spool.spool.memoryLength == 1_000_000 && budget.held.disk == 0)
        #expect(client.patiences.map { $0 != nil } == [true, true, false, true, false])
    }
}
