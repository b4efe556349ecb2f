// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import NIOCore

/// The soak around a course of mutated exchanges: who watches, who syncs beside it, and what must be true in the end.
struct MutationSoak: Sendable {
    let gateway: GatewayProcess
    let backend: DemoBackend
    let journal: MutationJournal
    let seed: UInt64

    /// Plays all exchanges, then compares genuine devices with the backend.
    func run() async throws {
        let began = ContinuousClock.now
        let samples = try await withThrowingTaskGroup(of: [(done: Int, memory: Int)].self) { group in
            group.addTask { try await watch() }
            group.addTask {
                try await syncBeside()
                return []
            }
            group.addTask {
                try await playAll()
                return []
            }
            var samples: [(done: Int, memory: Int)] = []
            while let result = await group.nextResult() {
                // Where something is wrong some clients would wait for long yet.
                if !journal.failures.isEmpty {
                    journal.close()
                    group.cancelAll()
                }
                do {
                    samples += try result.get()
                } catch {
                    if journal.failures.isEmpty { throw error }
                }
            }
            return samples
        }
        let seconds = max(1, Int((ContinuousClock.now - began).components.seconds))
        print(
            "mutated exchanges of seed \(seed): \(journal.done) in \(seconds) s (\(journal.done / seconds) a second); \(journal.summary)"
        )
        judge(samples)
        guard journal.failures.isEmpty else { return }
        try await compare(user: "ada@example.com", token: "ada-token")
        for user in [0, 5] {
            let email = "mutant\(user)@example.com"
            try await compare(user: email, token: try await backend.login(as: email))
        }
    }

    private var isPlaying: Bool { journal.failures.isEmpty && journal.done < count }
    private var count: Int { SoakSettings.mutation == nil ? SoakSettings.requests : 20 }

    private func playAll() async throws {
        var http = gateway.http
        // Who waits in vain is found by the watch.
        http.patience = .minutes(10)
        let course = MutationCourse(http: http, journal: journal, seed: seed)
        if let number = SoakSettings.mutation {
            let worker = number % MutationCourse.workers
            return try await course.play(Array(repeating: number, count: count), worker: worker)
        }
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<MutationCourse.workers {
                group.addTask {
                    do {
                        try await course.play(
                            stride(from: worker, to: count, by: MutationCourse.workers), worker: worker)
                    } catch {
                        journal.fail("a client cannot speak to the gateway: \(error)")
                    }
                }
            }
        }
    }

    /// Looks at the process until the course is through.
    private func watch() async throws -> [(done: Int, memory: Int)] {
        let watch = GatewayWatch(gateway)
        var samples: [(done: Int, memory: Int)] = []
        var isLast = false
        while !isLast {
            isLast = !isPlaying
            for defect in try watch.defects().prefix(3) { journal.fail("in the log: \(defect)") }
            if let memory = watch.memory { samples.append((journal.done, memory)) }
            guard gateway.isRunning else {
                journal.fail("the gateway has ended: \(gateway.log.suffix(6_000))")
                return samples
            }
            if journal.failSlow(after: MutationCourse.patience) { return samples }
            if !isLast { try await Task.sleep(for: .milliseconds(200)) }
        }
        return samples
    }

    /// A genuine device, whose every sync must succeed and be right while the others do what they do.
    private func syncBeside() async throws {
        var device = device("ada-token", seed: 77)
        var round = 0
        while isPlaying {
            round += 1
            try await backend.edit(.put("tasks", ["id": "t-1", "name": .string("round \(round)")]))
            if device.model.lastPulledAt != nil {
                try device.model.create("tags", ["label": .string("made in round \(round)")])
            }
            do {
                try await sync(&device)
                let differences = try await differences(device, user: "ada@example.com")
                if !differences.isEmpty { journal.fail("beside, round \(round): \(differences.prefix(5))") }
            } catch {
                let lines = (try? GatewayWatch(gateway).lines(about: error)) ?? []
                journal.fail("beside, round \(round): \(error)\n\(lines.joined(separator: "\n"))")
            }
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    /// A sync of an app that comes again where it is told to; on a busy machine any backend may be too slow.
    private func sync(_ device: inout StackDevice) async throws {
        for _ in 0..<20 {
            do {
                try await device.sync()
                return
            } catch StackDevice.Failure.pull(let answer) where [429, 503, 504].contains(answer.status) {
                try await Task.sleep(for: .milliseconds(500))
            } catch StackDevice.Failure.push(let answer) where [429, 503, 504].contains(answer.status) {
                try await Task.sleep(for: .milliseconds(500))
            }
        }
        try await device.sync()
    }

    private func compare(user: String, token: String) async throws {
        var device = device(token, seed: 78)
        do {
            try await sync(&device)
            let differences = try await differences(device, user: user)
            if !differences.isEmpty { journal.fail("at the end, \(user): \(differences.prefix(5))") }
        } catch {
            journal.fail("at the end, \(user): \(error)")
        }
    }

    private func device(_ token: String, seed: UInt64) -> StackDevice {
        StackDevice(
            model: ClientModel(schema: .quickstart, version: 3, seed: seed), token: token, shape: .docs,
            http: gateway.http)
    }

    private func differences(_ device: StackDevice, user: String) async throws -> [String] {
        var contents = try await StackOracle.contents(
            of: backend, for: user, schema: device.model.schema, version: device.model.database.version)
        // Damaged pushes make records with ids that apps cannot hold; a pull quarantines their lines.
        let safe = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-")
        for (table, records) in contents { contents[table] = records.filter { safe.isSuperset(of: $0.key) } }
        return StackOracle.differences(device.model.contents, contents)
    }

    /// Memory: the most of the last fifth of the course, against the most of its second fifth.
    private func judge(_ samples: [(done: Int, memory: Int)]) {
        func peak(_ part: Range<Int>) -> Int? {
            samples.filter { $0.done >= count * part.lowerBound / 10 && $0.done <= count * part.upperBound / 10 }
                .map(\.memory).max()
        }
        guard SoakSettings.mutation == nil, let early = peak(0..<4), let late = peak(8..<10) else { return }
        print("mutated exchanges: memory \(early >> 20) MiB at first, \(late >> 20) MiB at last")
        if late > early + MutatedExchangeTests.growth {
            journal.fail("memory grew from \(early >> 20) to \(late >> 20) MiB")
        }
    }
}
