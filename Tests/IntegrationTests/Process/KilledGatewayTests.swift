// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Foundation
import GatewayTesting
import NIOConcurrencyHelpers
import StateStore
import SyncModel
import Testing

/// A gateway that dies at any moment leaves nothing behind that a client would ever see.
@Suite(.timeLimit(.minutes(5)), .enabled(if: GatewayProcess.isBuilt, "the program rind is not built"))
struct KilledGatewayTests {
    /// Five lives of ten deaths each, at moments that follow from the seed.
    @Test(arguments: [1, 2, 3, 4, 5] as [UInt64])
    func `a gateway that is killed at random moments loses nothing and doubles nothing`(_ seed: UInt64) async throws {
        try await GatewayStack.withBackend { backend, directory in
            var random = SeededGenerator(seed: seed)
            var seeding = DemoSeed()
            seeding.projects = 2
            seeding.tasks = 30
            seeding.comments = 0
            seeding.taskTags = 0
            try await backend.seed(seeding)
            let url = try await backend.url
            var gateway = try await GatewayProcess.start(backend: url, directory: directory)
            var devices = [1, 2].map { number in
                StackDevice(
                    model: ClientModel(schema: .quickstart, version: 3, seed: seed * 10 + number), token: "device-a",
                    shape: .docs, http: gateway.http)
            }
            let interrupted = NIOLockedValueBox(0)
            for round in 0..<10 {
                let place = Int(random.next() % 2)
                if devices[place].model.lastPulledAt != nil {
                    try devices[place].model.create("tasks", ["name": .string("made \(round)"), "project_id": "p-0"])
                    try devices[place].model.create("tags", ["label": .string("made \(round)")])
                }
                try await backend.edit(.put("tasks", ["id": .string("t-\(round)"), "name": .string("round \(round)")]))
                if random.next() % 2 == 0 { backend.inject(.stream { $0.delayPerLine = 5 }) }
                if random.next() % 2 == 0 { backend.inject(DemoFault("POST", "/sync/push", action: .delay(20))) }

                let moment = Int(random.next() % 60)
                let syncing = devices[place]
                devices[place] =
                    try await withThrowingTaskGroup(of: StackDevice?.self) { group in
                        group.addTask {
                            var device = syncing
                            // Whatever the death makes of it, the app goes on with what it has.
                            do { try await device.sync() } catch { interrupted.withLockedValue { $0 += 1 } }
                            return device
                        }
                        try await Task.sleep(for: .milliseconds(moment))
                        try await gateway.kill()
                        return try await group.next() ?? nil
                    } ?? syncing
                backend.clearFaults()

                gateway = try await GatewayProcess.start(backend: url, directory: directory)
                for number in [place, 1 - place] {
                    devices[number].http = gateway.http
                    for _ in 0..<2 { try await devices[number].sync() }
                    #expect(!devices[number].model.hasUnsyncedChanges, "round \(round), device \(number)")
                    #expect(try await Self.differences(devices[number], backend) == [], "round \(round)")
                }
            }
            let state = try StateDump(path: "\(directory)/state.db", kinds: StateDump.allKinds)
            #expect(state.rows[.line] == [])
            #expect(interrupted.withLockedValue { $0 } > 0)
            try await gateway.kill()
        }
    }

    private static func differences(_ device: StackDevice, _ backend: DemoBackend) async throws -> [String] {
        let contents = try await StackOracle.contents(
            of: backend, for: "ada@example.com", schema: device.model.schema, version: device.model.database.version)
        return StackOracle.differences(device.model.contents, contents)
    }
}

extension GatewayProcess {
    /// Whether there is a program to run.
    static var isBuilt: Bool { FileManager.default.isExecutableFile(atPath: program.path) }
}
