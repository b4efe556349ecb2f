// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import GatewayTesting
import NIOConcurrencyHelpers
import Testing

/// A real gateway process with real sockets between clients and a backend that both send damaged messages, by seed.
///
/// In the midst of it a genuine device syncs through the same gateway, and its backend's answers are left alone.
@Suite(.serialized, .timeLimit(.minutes(60)), .enabled(if: GatewayProcess.isBuilt, "the program rind is not built"))
struct MutatedExchangeTests {
    /// What the gateway's memory may grow by once it has seen everything a few times.
    static let growth = 96 << 20

    @Test(arguments: SoakSettings.seeds)
    func `damaged requests and answers neither end, stop, bloat nor confuse the gateway`(seed: UInt64) async throws {
        let journal = MutationJournal(seed: seed)
        var options = StackOptions()
        for user in 0..<(MutationCourse.workers / 2) {
            options.backend.accounts.append(
                .init(
                    id: "mutant-user-\(user)", email: "mutant\(user)@example.com", name: "Mutant \(user)",
                    tokens: [GenuineRequests.token(user * 2), GenuineRequests.token(user * 2 + 1)]))
        }
        try await GatewayStack.withBackend(options) { backend, directory in
            try await Self.seed(backend)
            let relay = BackendRelay(backend: RawHTTPClient(port: try await backend.port)) { request in
                Self.course(&request, journal, seed)
            }
            try await relay.run { url in
                let overrides = Self.overrides.merging(["log.level": Self.logLevel]) { $1 }
                try await GatewayProcess.with(backend: url, directory: directory, overrides: overrides) { gateway in
                    let soak = MutationSoak(gateway: gateway, backend: backend, journal: journal, seed: seed)
                    try await soak.run()
                    for text in relay.ambiguousRequests { journal.fail("sent to the backend: \(text)") }
                    for failure in journal.failures { Issue.record("\(failure)") }
                }
            }
        }
    }

    /// Short times, so that a backend that falls silent is no wait; the limits of memory stay as they are.
    private static let overrides = [
        "backend.first_byte_timeout": "10s", "backend.idle_timeout": "2s", "backend.total_timeout": "60s",
        "backend.resume_backoff": "10ms", "push.retry_budget": "100ms", "pull.repeat_window": "2s",
        "push.receipt_window": "2s", "limits.answers_kept": "16MiB", "limits.queue_wait": "5s",
        "identity.auth_ttl": "2s",
    ]

    /// A long course would fill the disk with what lies behind damaged requests; it writes some 300 MB as it is.
    private static var logLevel: String {
        SoakSettings.mutation == nil && SoakSettings.requests > 20_000 ? "info" : "debug"
    }

    private static func seed(_ backend: DemoBackend) async throws {
        var seeding = DemoSeed()
        (seeding.projects, seeding.tasks, seeding.comments, seeding.taskTags) = (3, 30, 10, 10)
        try await backend.seed(seeding)
        for user in 0..<(MutationCourse.workers / 2) {
            var edits: [DemoEdit] = [.put("projects", ["id": .string("p\(user)"), "name": "project"])]
            edits += (0..<8).map { number in
                .put(
                    "tasks",
                    ["id": .string("w\(user * 2)-\(number)"), "name": "task", "projectId": .string("p\(user)")])
            }
            edits.append(.put("tags", ["id": .string("g\(user)"), "label": "tag"]))
            try await backend.edit(as: "mutant-user-\(user)", edits)
        }
    }

    /// What becomes of a request to the backend.
    private static func course(
        _ request: inout RelayedRequest, _ journal: MutationJournal, _ seed: UInt64
    ) -> BackendRelay.Course {
        let method = request.method
        guard let token = request.token, token.hasPrefix("mutant-"), let worker = Int(token.dropFirst(7)),
            let (number, call) = journal.call(worker: worker)
        else {
            // A genuine user, a credential that was damaged, or one whose client has gone.
            return .pass { RelayedAnswer(bytes: AnswerMutator.faithful($0, method: method, mark: "")) }
        }
        var mutator = MutationCourse.mutator(seed, number)
        let mark = MutationCourse.mark(number)
        guard mutator.percent(50) else {
            return .pass { RelayedAnswer(bytes: AnswerMutator.faithful($0, method: method, mark: mark)) }
        }
        mutator = MutationCourse.mutator(seed, number, call: call)
        guard mutator.percent(40) else {
            return .pass { RelayedAnswer(bytes: AnswerMutator.faithful($0, method: method, mark: mark)) }
        }
        if mutator.percent(3) { return .drop }
        // Text is damaged to more effect than what is compressed.
        if mutator.percent(70) { request.fields.removeAll { $0.name.lowercased() == "accept-encoding" } }
        let asked = request
        return .pass { [mutator] answer in
            var damage = AnswerMutator(mutator: mutator, mark: mark)
            let damaged = damage.damaged(answer, method: method)
            journal.note(damaged, to: asked, worker: worker)
            return damaged
        }
    }
}
