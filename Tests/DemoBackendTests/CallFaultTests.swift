// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Testing

/// What goes wrong with calls about single records, on purpose and by chance.
@Suite struct CallFaultTests {
    /// Whether a call with a fault was carried out, and the status of its answer; 0 is none.
    @Test(
        arguments: [
            (DemoFault.Action.status(503), 503, false), (.statusAfterwards(500), 500, true), (.loseRequest, 0, false),
            (.loseAnswer, 0, true),
        ])
    func `a call is carried out or not, whatever its answer says`(
        _ action: DemoFault.Action, _ status: Int, _ isCarriedOut: Bool
    ) async throws {
        try await DemoBackend.withRunning { backend in
            let client = try await TestClient(backend)
            backend.inject(DemoFault("POST", "/notes", action: action))
            #expect(try await client.send("POST", "/notes", body: #"{"title":"a"}"#).status == status)
            #expect(try await backend.records()["notes"]?.count == (isCarriedOut ? 1 : 0))
            #expect(backend.requests.first?.fault != nil)
            #expect(try await client.send("POST", "/notes", body: #"{"title":"b"}"#).status == 201)
            #expect(backend.requests.last?.fault == nil)
        }
    }

    @Test(arguments: [DemoFault.Action.loseAnswer, .statusAfterwards(500)])
    func `nobody hears of a refusal whose answer is lost`(_ action: DemoFault.Action) async throws {
        try await DemoBackend.withRunning { backend in
            let client = try await TestClient(backend)
            backend.inject(DemoFault("POST", "/notes", action: action))
            #expect([0, 500].contains(try await client.send("POST", "/notes", body: #"{"title":7}"#).status))
            #expect(try await backend.records()["notes"] == [:])
        }
    }

    @Test func `a late call is carried out although its client has gone`() async throws {
        try await DemoBackend.withRunning { backend in
            let client = try await TestClient(backend)
            backend.inject(DemoFault("POST", "/notes", action: .delay(500)))
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { _ = try? await client.send("POST", "/notes", body: #"{"title":"late"}"#) }
                while backend.count("POST", "/notes") == 0 { try await Task.sleep(for: .milliseconds(2)) }
                group.cancelAll()
            }
            while try await backend.records()["notes"]?.count == 0 { try await Task.sleep(for: .milliseconds(5)) }
            #expect(try await client.send("GET", "/notes/1").json?["title"] == "late")
        }
    }

    @Test func `a fault waits for its number among the requests of its path`() async throws {
        try await DemoBackend.withRunning { backend in
            let client = try await TestClient(backend)
            backend.inject(DemoFault("GET", "/notes/*", skipping: 1, times: 2, action: .status(500)))
            var statuses: [Int] = []
            for path in ["/notes/1", "/folders/1", "/notes/2", "/notes/3", "/notes/4"] {
                statuses.append(try await client.send("GET", path).status)
            }
            #expect(statuses == [404, 404, 500, 500, 404])
        }
    }

    @Test func `chance lets the same calls fail for the same seed, and only calls about records`() async throws {
        var runs: [[Int]] = []
        for seed in [1, 1, 2] as [UInt64] {
            try await DemoBackend.withRunning { backend in
                let client = try await TestClient(backend)
                let ways: [RandomFaults.Way] = [.refuse, .putOff, .refuseAfterwards]
                backend.inject(RandomFaults(seed: seed, probability: 0.5, ways: ways))
                var statuses: [Int] = []
                for number in 0..<40 {
                    let body = #"{"id":"t-\#(number / 2)","label":"a"}"#
                    statuses.append(try await client.send("POST", "/tags", body: body).status)
                    #expect(try await client.send("GET", "/sync/ack").status == 200)
                }
                runs.append(statuses)
                backend.clearFaults()
                for number in 0..<10 { #expect(try await client.send("GET", "/notes/\(number + 1)").status == 404) }
            }
        }
        #expect(runs[0] == runs[1])
        #expect(runs[0] != runs[2])
        #expect((10...30).contains(runs[0].count { $0 >= 429 }))
        #expect(Set(runs.joined()).isSuperset(of: [201, 409, 429, 500, 502, 503, 504]))
    }

    @Test func `no call fails where the probability is 0, and every one where it is 1`() async throws {
        try await DemoBackend.withRunning { backend in
            let client = try await TestClient(backend)
            for (probability, expected) in [(0.0, [404]), (1.0, [500, 502, 504])] {
                backend.inject(RandomFaults(seed: 3, probability: probability, ways: [.refuse]))
                for _ in 0..<10 { #expect(expected.contains(try await client.send("GET", "/tags/none").status)) }
            }
        }
    }

    @Test func `faults and refusals can be steered from elsewhere`() async throws {
        var configuration = DemoConfiguration()
        configuration.allowsSteering = true
        try await DemoBackend.withRunning(configuration) { backend in
            let client = try await TestClient(backend)
            func steer(_ path: String, _ body: String) async throws {
                #expect(try await client.send("POST", "/_demo/\(path)", body: body).status == 204)
            }
            try await steer("fault", #"{"path":"/tags/*","skip":1,"statusAfterwards":502}"#)
            #expect(try await client.send("GET", "/tags/a").status == 404)
            #expect(try await client.send("GET", "/tags/a").status == 502)
            try await steer("fault", #"{"path":"/tags/*","loseRequest":true}"#)
            #expect(try await client.send("GET", "/tags/a").status == 0)
            try await steer("fault", #"{"seed":4,"probability":1}"#)
            #expect(try await client.send("GET", "/tags/a").status != 404)
            try await steer("fault", #"{"clear":true}"#)
            try await steer("reject", #"{"ids":["a"],"texts":["poison"]}"#)
            #expect(try await client.send("POST", "/tags", body: #"{"id":"a","label":"a"}"#).status == 400)
            #expect(try await client.send("POST", "/tags", body: #"{"id":"b","label":"poison"}"#).status == 400)
            try await steer("reject", "{}")
            #expect(try await client.send("POST", "/tags", body: #"{"id":"a","label":"poison"}"#).status == 201)
            try await steer("edit", #"{"put":"notes","record":{"id":7,"title":"n"}}"#)
            try await steer("edit", #"{"delete":"notes","id":7}"#)
        }
    }
}
