// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import NIOCore

/// Makes the requests of ``Small`` and judges their answers.
struct SmallRequests: Sendable {
    /// The data of one caller.
    private struct Caller {
        /// The cursor of the last pull.
        var cursor: Int?
        /// The number of pushes so far.
        var pushes = 0
    }

    let scenario: SmallScenario
    let sizes: SmallScenario.Sizes
    private let callers: NIOLockedValueBox<[Caller]>
    /// The number of callers so far who were never seen before.
    private let newcomers = NIOLockedValueBox(0)

    init(_ scenario: SmallScenario, sizes: SmallScenario.Sizes, callers: Int) {
        self.scenario = scenario
        self.sizes = sizes
        self.callers = NIOLockedValueBox(Array(repeating: Caller(), count: callers))
    }

    /// The first pull of each caller, with which every scenario but first syncs begins.
    var firstPulls: LoadClient.Course {
        LoadClient.Course(
            request: { Self.pull("caller-\($0)", cursor: nil) },
            isRight: { caller, answer in
                guard let cursor = answer.number("timestamp") else { return false }
                callers.withLockedValue { $0[caller].cursor = cursor }
                return answer.records == sizes.rows
            })
    }

    /// The requests that a gateway is measured with.
    var course: LoadClient.Course {
        switch scenario {
        case .first:
            LoadClient.Course(
                request: { _ in Self.pull(newcomer, cursor: nil) },
                isRight: { $1.records == sizes.rows && $1.number("timestamp") != nil })
        case .push:
            LoadClient.Course(
                request: { caller in
                    let (cursor, push) = nextPush(of: caller)
                    return Self.request(
                        "POST /sync?schema_version=1&last_pulled_at=\(cursor ?? 0)", "caller-\(caller)",
                        body: push.clientBody)
                },
                isRight: { _, _ in true })
        case .idle, .idleServer, .incremental:
            LoadClient.Course(
                request: { caller in
                    Self.pull("caller-\(caller)", cursor: callers.withLockedValue { $0[caller].cursor })
                },
                isRight: { caller, answer in
                    guard let cursor = answer.number("timestamp") else { return false }
                    callers.withLockedValue { $0[caller].cursor = cursor }
                    return answer.records == sizes.changes
                })
        }
    }

    /// The calls that a gateway makes of the requests, for a server that passes them through.
    var passedCourse: LoadClient.Course {
        switch scenario {
        case .push:
            LoadClient.Course(
                request: { caller in
                    Self.request("POST /sync/push", "caller-\(caller)", body: nextPush(of: caller).push.streamBody)
                },
                isRight: { _, _ in true })
        case .first:
            LoadClient.Course(
                request: { _ in Self.request("POST /sync/stream", newcomer, body: #"{"types":["AssetsV1"]}"#) },
                isRight: { $1.records == sizes.rows && $1.ends(with: Self.completeMark) })
        case .idle, .idleServer, .incremental:
            LoadClient.Course(
                request: { Self.request("POST /sync/stream", "caller-\($0)", body: Self.known) },
                isRight: { $1.records == sizes.changes && $1.ends(with: Self.completeMark) })
        }
    }

    /// Small requests that are no syncs, and so pass through a gateway to the backend.
    var otherCourse: LoadClient.Course {
        LoadClient.Course(request: { Self.request("GET /users/me", "caller-\($0)") }, isRight: { _, _ in true })
    }

    private var newcomer: String {
        "new-\(newcomers.withLockedValue { count in count += 1; return count })"
    }

    private func nextPush(of caller: Int) -> (cursor: Int?, push: SmallPush) {
        callers.withLockedValue { callers in
            callers[caller].pushes += 1
            return (callers[caller].cursor, SmallPush(caller: caller, number: callers[caller].pushes))
        }
    }

    private static let known =
        #"{"types":["AssetsV1"],"checkpoints":{"AssetV1":"AssetV1|1","SyncCompleteV1":"SyncCompleteV1|1"}}"#

    private static let completeMark = Array(#""SyncCompleteV1""#.utf8)

    private static func pull(_ caller: String, cursor: Int?) -> ByteBuffer {
        request("GET /sync?schema_version=1&last_pulled_at=\(cursor.map { "\($0)" } ?? "null")", caller)
    }

    private static func request(_ line: String, _ caller: String, body: String? = nil) -> ByteBuffer {
        let fields = body.map { "Content-Type: application/json\r\nContent-Length: \($0.utf8.count)\r\n" } ?? ""
        return ByteBuffer(
            string: "\(line) HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer \(caller)\r\n"
                + "Accept: application/json\r\n\(fields)\r\n\(body ?? "")")
    }
}
