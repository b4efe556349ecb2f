// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Gateway
import GatewayServer
import Gzip
import NIOCore
import Testing

@Suite struct ContentCodingTests {
    @Test(
        arguments: [
            (nil, false), ("", false), ("gzip", true), ("GZIP", true), ("x-gzip", true), ("gzip, deflate, br", true),
            ("br", false), ("gzip;q=0", false), ("gzip; q=0.000", false), ("gzip;q=0.001", true), ("gzip;q=1.0", true),
            ("*", true), ("*;q=0", false), ("gzip;q=0, *", false), ("gzip, *;q=0", true), ("identity", false),
            ("identity, gzip;q=0.5", false), ("identity;q=0.5, gzip;q=0.5", true), ("identity;q=0", false),
            ("gzip;q=2", false), ("gzip;q=x", false), ("gzip;q=0.0001", false), ("deflate;q=1,  gzip ;q=0.8", true),
        ] as [(String?, Bool)])
    func `gzip goes to those who want it`(field: String?, accepts: Bool) {
        #expect(ContentCoding.acceptsGzip(field) == accepts)
    }

    @Test(
        arguments: [
            (nil, nil), ("", nil), ("identity", nil), ("gzip", .gzip), ("X-GZip", .gzip), ("deflate", .deflate),
            ("identity, gzip", .gzip),
        ] as [(String?, Inflater.Format?)])
    func `what a body is compressed with is understood`(field: String?, format: Inflater.Format?) throws {
        #expect(try ContentCoding.format(of: field) == format)
    }

    @Test(arguments: ["br", "zstd", "gzip, gzip", "compress", "gzip;q=1"])
    func `other compressions are refused`(field: String) {
        #expect(throws: (any Error).self) { try ContentCoding.format(of: field) }
    }
}

@Suite struct BodyCollectorTests {
    private let content = ByteBuffer(string: String(repeating: "{\"a\":[1,2,3]}", count: 1_000))

    private func collect(
        _ pieces: [ByteBuffer], coding: String? = nil, limit: Int = 1 << 20, inflatedLimit: Int = 1 << 20,
        budget: Int = 1 << 20, announced: Int? = nil
    ) async throws -> [UInt8] {
        var rest = pieces[...]
        let collector = BodyCollector(limit: limit, inflatedLimit: inflatedLimit)
        return try await collector.collect(
            announced: announced, coding: coding, lease: ByteBudget(limit: budget).lease(), admit: {},
            next: { rest.popFirst() })
    }

    private func code(_ body: () async throws -> [UInt8]) async -> String? {
        do { _ = try await body() } catch { return (error as? GatewayError)?.code }
        return nil
    }

    @Test(arguments: [1, 7, 1_000])
    func `a compressed body comes out as it was, however it is cut`(size: Int) async throws {
        var compressed = try Deflater.compress(content)
        var pieces: [ByteBuffer] = []
        while let piece = compressed.readSlice(length: min(size, compressed.readableBytes)), piece.readableBytes > 0 {
            pieces.append(piece)
        }
        #expect(try await collect(pieces, coding: "gzip") == Array(content.readableBytesView))
    }

    @Test(arguments: [true, false])
    func `who sends more than a small body is asked for once, and a small one comes without`(isGzip: Bool) async throws
    {
        let collector = BodyCollector(limit: 1 << 20, inflatedLimit: 1 << 20)
        for (size, asked) in [(60_000, 0), (70_000, 1), (900_000, 1)] {
            let body = ByteBuffer(repeating: 32, count: size)
            var piece: ByteBuffer? = isGzip ? try Deflater.compress(body) : body
            var count = 0
            let collected = try await collector.collect(
                announced: nil, coding: isGzip ? "gzip" : nil, lease: ByteBudget(limit: 1 << 20).lease(),
                admit: { count += 1 }, next: { piece.take() })
            #expect(collected.count == size && count == asked, "\(size)")
        }
    }

    @Test func `a plain body comes out as it was`() async throws {
        #expect(try await collect([content, content]).count == 2 * content.readableBytes)
        #expect(try await collect([]).isEmpty)
    }

    @Test func `a body beyond a limit is refused before it is whole`() async throws {
        let size = content.readableBytes
        #expect(try await collect([content], limit: size).count == size)
        #expect(await code { try await collect([content], limit: size - 1) } == "request.body_too_large")
        #expect(await code { try await collect([], limit: 10, announced: 11) } == "request.body_too_large")
        let compressed = try Deflater.compress(content)
        #expect(try await collect([compressed], coding: "gzip", inflatedLimit: size).count == size)
        #expect(
            await code { try await collect([compressed], coding: "gzip", inflatedLimit: size - 1) }
                == "request.body_too_large")
    }

    @Test func `a damaged or short compressed body is refused`() async throws {
        let compressed = try Deflater.compress(content)
        let short = try #require(compressed.getSlice(at: 0, length: compressed.readableBytes - 5))
        #expect(await code { try await collect([short], coding: "gzip") } == "request.compressed_body")
        #expect(
            await code { try await collect([ByteBuffer(string: "{}")], coding: "gzip") } == "request.compressed_body")
    }

    @Test func `a body that comes in pieces takes no more memory than it announces, and one that does not come none`()
        async throws
    {
        let pieces = Array(repeating: content, count: 3)
        let size = 3 * content.readableBytes
        #expect(try await collect(pieces, budget: size, announced: size).count == size)
        #expect(try await collect([], limit: size, budget: 0, announced: size).isEmpty)
        #expect(await code { try await collect(pieces, budget: size - 1, announced: size) } == "request.body_too_large")
    }

    @Test func `what one caller's bodies hold leaves room for those of others`() throws {
        let budget = ByteBudget(limit: 100)
        let leases = (0..<3).map { _ in budget.lease() }
        try leases[0].take(40)
        // Who it is becomes known later: what is held goes along.
        for lease in leases[0..<2] { lease.belongs(to: "ada") }
        #expect(throws: GatewayFault.bodies) { try leases[1].take(15) }
        try leases[1].take(10)
        leases[2].belongs(to: "bob")
        try leases[2].take(25)
        #expect(throws: GatewayFault.bodies) { try leases[1].take(1) }
    }

    @Test func `a push that is the only one may take all`() throws {
        let lease = ByteBudget(limit: 100).lease()
        lease.belongs(to: "ada")
        try lease.take(70)
        try lease.take(30)
    }

    @Test func `memory is given back with the lease`() throws {
        let budget = ByteBudget(limit: 10)
        do {
            let first = budget.lease()
            try first.take(8)
            #expect(throws: GatewayFault.bodies) { try budget.lease().take(3) }
            try first.take(2)
            withExtendedLifetime(first) {}
        }
        try budget.lease().take(10)
    }
}
