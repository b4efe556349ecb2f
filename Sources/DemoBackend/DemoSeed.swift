// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import GRDB

/// The numbers of records that ``DemoBackend/seed(_:)`` makes, and the seed of their random contents.
package struct DemoSeed: Sendable {
    /// The number of projects: Ada owns two thirds and Bob the rest; every third is shared with the other user.
    package var projects = 12
    /// The number of tasks in all projects together.
    package var tasks = 2400
    /// The number of comments on tasks.
    package var comments = 1200
    /// The number of tags of each user.
    package var tags = 8
    /// The number of labels on tasks.
    package var taskTags = 800
    /// The seed of the random numbers; the same seed makes the same records.
    package var seed: UInt64 = 1

    /// Creates a seed of a few thousand records.
    package init() {}
}

extension DemoBackend {
    /// Fills the database with projects, tasks, comments, tags and labels of two users, in one transaction.
    ///
    /// Ids are short and readable: `p-3`, `t-17`, `c-5`, `ada-tag-2`. Records that exist already are changed.
    package func seed(_ seed: DemoSeed = DemoSeed()) async throws {
        let now = clock.now
        let users = try await store.write { db in
            try String.fetchAll(db, sql: "SELECT id FROM users ORDER BY email")
        }
        guard let first = users.first else { return }
        let second = users.dropFirst().first ?? first
        try await store.write { db in
            var maker = SeedMaker(
                seed: seed, now: now, first: RecordWriter(db: db, userID: first),
                second: RecordWriter(db: db, userID: second))
            try maker.make()
        }
    }
}

/// A maker of the records of a seed.
private struct SeedMaker {
    let seed: DemoSeed
    let now: Int64
    let first: RecordWriter
    let second: RecordWriter
    private var random: SplitMix64

    init(seed: DemoSeed, now: Int64, first: RecordWriter, second: RecordWriter) {
        self.seed = seed
        self.now = now
        self.first = first
        self.second = second
        random = SplitMix64(state: seed.seed)
    }

    mutating func make() throws {
        for number in 0..<seed.projects { try makeProject(number) }
        for number in 0..<seed.tasks { try makeTask(number) }
        for number in 0..<seed.comments {
            let task = Int.random(in: 0..<max(1, seed.tasks), using: &random)
            try owner(ofTask: task).put(
                .comments, key: ["c-\(number)"],
                data: ["body": .string(words(3...20)), "taskId": .string("t-\(task)")])
        }
        for number in 0..<seed.tags {
            let label = DemoValue.string(words(1...1))
            try first.put(.tags, key: ["ada-tag-\(number)"], data: ["label": label])
            try second.put(.tags, key: ["bob-tag-\(number)"], data: ["label": label])
        }
        for number in 0..<(seed.tags > 0 ? seed.taskTags : 0) {
            let task = number * 7 % max(1, seed.tasks)
            let writer = owner(ofTask: task)
            let name = writer.userID == first.userID ? "ada" : "bob"
            let tag = "\(name)-tag-\(Int.random(in: 0..<seed.tags, using: &random))"
            try writer.put(.taskTags, key: ["t-\(task)", tag], data: [:])
        }
    }

    private mutating func makeProject(_ number: Int) throws {
        let writer = owner(ofProject: number)
        try writer.put(
            .projects, key: ["p-\(number)"],
            data: [
                "name": .string(words(1...3)), "isArchived": .bool(number % 5 == 4),
                "color": ["#cc3344", "#3366cc", "#22aa66", nil][number % 4],
            ])
        guard number % 3 == 0 else { return }
        let other = writer.userID == first.userID ? second.userID : first.userID
        try writer.share(project: "p-\(number)", with: other, role: "editor")
    }

    private mutating func makeTask(_ number: Int) throws {
        let created = Double(now - Int64.random(in: 0..<DemoClock.days(300), using: &random))
        let isDone = Bool.random(using: &random)
        let due = created + Double(Int64.random(in: 0..<DemoClock.days(60), using: &random))
        try owner(ofTask: number).put(
            .tasks, key: ["t-\(number)"],
            data: [
                "name": .string(words(2...6)), "position": .number(Double(number) / 2), "isDone": .bool(isDone),
                "projectId": .string("p-\(number % max(1, seed.projects))"),
                "note": number % 3 == 0 ? .string(words(5...40)) : .null,
                "dueAt": number % 4 == 0 ? .number(due) : .null, "createdAt": .number(created),
                "updatedAt": .number(created),
            ])
    }

    private func owner(ofProject number: Int) -> RecordWriter { number % 3 == 2 ? second : first }

    private func owner(ofTask number: Int) -> RecordWriter { owner(ofProject: number % max(1, seed.projects)) }

    private mutating func words(_ count: ClosedRange<Int>) -> String {
        let vocabulary = [
            "paint", "the", "fence", "call", "Größe", "before", "noon", "order", "two", "boxes", "of", "screws", "東京",
            "check", "invoice", "and", "send", "it", "🌙", "quote \"this\"",
        ]
        return (0..<Int.random(in: count, using: &random))
            .map { _ in vocabulary.randomElement(using: &random) ?? "" }.joined(separator: " ")
    }
}

/// A generator of random numbers that are the same for the same seed.
struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
