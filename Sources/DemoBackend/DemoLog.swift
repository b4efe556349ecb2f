// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers

/// A request that the backend has seen, for assertions.
package struct DemoRequest: Sendable {
    /// The method in capital letters.
    package var method: String
    /// The path without the query.
    package var path: String
    /// The query without its question mark; empty if there is none.
    package var query: String
    /// The headers with their names in lower case; of a repeated header the last value.
    package var headers: [String: String]
    /// The body's text; empty for files.
    package var body: String
    /// The body as JSON; nil if it is not JSON.
    package var json: DemoValue? { DemoValue(parsing: body.utf8) }
    /// The fault that was applied to the request.
    package var fault: DemoFault.Action?
    /// The status of the answer; nil as long as there is none, and if the connection was closed without one.
    package var status: Int?
}

/// The log of the requests, and the faults for those to come.
final class DemoLog: Sendable {
    private struct State {
        var requests: [DemoRequest] = []
        var first = 0
        var underWay = 0
        var faults: [DemoFault] = []
        var rejections = Rejections()
        var random: RandomFaults?
        /// The number of times that each call has come since the random faults were set.
        var occurrences: [String: Int] = [:]

        mutating func takeRandom(for request: DemoRequest) -> DemoFault.Action? {
            guard let random, random.concern(request) else { return nil }
            let content = "\(request.method) \(request.path)\n\(request.body)"
            defer { occurrences[content, default: 0] += 1 }
            return random.action(for: content, occurrence: occurrences[content, default: 0])
        }
    }
    private let state = NIOLockedValueBox(State())
    private static let capacity = 20_000

    var requests: [DemoRequest] { state.withLockedValue(\.requests) }

    var underWay: Int { state.withLockedValue(\.underWay) }

    func count(underWay difference: Int) { state.withLockedValue { $0.underWay += difference } }

    var rejections: Rejections {
        get { state.withLockedValue(\.rejections) }
        set { state.withLockedValue { $0.rejections = newValue } }
    }

    /// Adds a request and returns its number; beyond the capacity, the older half is forgotten.
    func append(_ request: DemoRequest) -> Int {
        state.withLockedValue { state in
            if state.requests.count >= Self.capacity {
                state.requests.removeFirst(Self.capacity / 2)
                state.first += Self.capacity / 2
            }
            state.requests.append(request)
            return state.first + state.requests.count - 1
        }
    }

    func setStatus(_ status: Int, of number: Int) {
        state.withLockedValue { state in
            let index = number - state.first
            if state.requests.indices.contains(index) { state.requests[index].status = status }
        }
    }

    func clear() {
        state.withLockedValue { state in
            state.first += state.requests.count
            state.requests = []
        }
    }

    func add(_ fault: DemoFault) { state.withLockedValue { $0.faults.append(fault) } }

    /// Sets the random faults of calls; nil ends them.
    func set(_ random: RandomFaults?) {
        state.withLockedValue { state in
            state.random = random
            state.occurrences = [:]
        }
    }

    func clearFaults() {
        state.withLockedValue { $0.faults = [] }
        set(nil)
    }

    /// Returns the fault of a request: the first one that matches it, which is thereby used up once, or a random one.
    func takeFault(for request: DemoRequest) -> DemoFault.Action? {
        state.withLockedValue { state in
            let all = state.faults.indices.filter { state.faults[$0].matches(request.method, request.path) }
            let found = all.first { state.faults[$0].skipped == 0 }
            for index in all where state.faults[index].skipped > 0 { state.faults[index].skipped -= 1 }
            guard let found else { return state.takeRandom(for: request) }
            state.faults[found].times -= 1
            let action = state.faults[found].action
            if state.faults[found].times <= 0 { state.faults.remove(at: found) }
            return action
        }
    }
}
