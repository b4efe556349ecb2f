// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GatewayTesting
import NIOConcurrencyHelpers
import Testing

/// Bodies that pass through are streamed both ways: whoever is slow slows the other side down.
@Suite(
    .timeLimit(.minutes(5)), .enabled(if: GatewayProcess.isBuilt, "the program rind is not built"),
    .disabled(if: TestRun.isSanitized, "a sanitizer takes memory of its own"))
struct LargeBodyTests {
    static let size = 200 << 20
    static let bound = 100 << 20

    /// Waits until a count has stopped to grow, or has reached the end.
    static func steady(_ count: () -> Int) async throws -> Int {
        var last = -1
        while count() != last, count() < size {
            last = count()
            try await Task.sleep(for: .milliseconds(250))
        }
        return count()
    }

    @Test func `a download of 200 MB to a slow client takes little memory`() async throws {
        let backend = BulkServer(size: Self.size)
        try await TemporaryDirectory.with { directory in
            try await backend.run { url in
                try await GatewayProcess.with(backend: url, directory: directory) { gateway in
                    let received = try await gateway.http.withConnection { connection in
                        await connection.write(
                            gateway.http.request("GET", "/media", headers: [("Connection", "close")]))
                        // Nobody reads: what the backend gets rid of lies in buffers, the system's above all.
                        let buffered = try await Self.steady { backend.sentBytes }
                        #expect(buffered < Self.size)
                        var received = 0
                        while !connection.isEnded { received += await connection.bytes().count }
                        return received
                    }
                    #expect(received > Self.size && received < Self.size + 2_000)
                    if let peak = gateway.peakMemory { #expect(peak < Self.bound, "\(peak >> 20) MiB") }
                }
            }
        }
    }

    @Test func `an upload of 200 MB to a slow backend takes little memory`() async throws {
        let backend = BulkServer(size: Self.size)
        try await TemporaryDirectory.with { directory in
            try await backend.run { url in
                try await GatewayProcess.with(backend: url, directory: directory) { gateway in
                    let written = NIOLockedValueBox(0)
                    let answer = try await gateway.http.withConnection { connection in
                        let head = gateway.http.request(
                            "POST", "/media", headers: [("Content-Length", "\(Self.size)")])
                        try await withThrowingTaskGroup(of: Void.self) { group in
                            group.addTask {
                                let buffered = try await Self.steady { written.withLockedValue { $0 } }
                                #expect(buffered < Self.size)
                                await backend.latch.open()
                            }
                            await connection.write(head)
                            let block = [UInt8](repeating: UInt8(ascii: "x"), count: 64 << 10)
                            for _ in 0..<(Self.size / block.count) {
                                await connection.write(block)
                                written.withLockedValue { $0 += block.count }
                            }
                            try await group.waitForAll()
                        }
                        return try await connection.answer(to: "POST")
                    }
                    #expect(answer.status == 201, "\(answer), \(gateway.log.suffix(2_000))")
                    #expect(backend.takenBytes == Self.size)
                    if let peak = gateway.peakMemory { #expect(peak < Self.bound, "\(peak >> 20) MiB") }
                }
            }
        }
    }
}
