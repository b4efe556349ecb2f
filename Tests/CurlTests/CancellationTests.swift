// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Curl
import GatewayTesting
import HTTPTypes
import NIOCore
import Testing

@Suite struct CancellationTests {
    /// What the server sees of a connection.
    enum Seen: Equatable {
        case request
        case end
    }

    /// A server that answers with `bytes` and then waits for the end of the connection.
    func withServer(
        _ bytes: String, _ body: (LoopbackServer, Events<Seen>) async throws -> Void
    ) async throws {
        let seen = Events(of: Seen.self)
        try await LoopbackServer.run { peer in
            _ = try await peer.readHead()
            try await peer.write(bytes)
            seen.add(.request)
            await peer.waitForEnd()
            seen.add(.end)
        } _: {
            try await body($0, seen)
        }
    }

    @Test func `a task that is cancelled already sends nothing`() async throws {
        try await withServer("") { server, _ in
            try await withReactor { reactor in
                let url = server.url
                let error = await withTaskGroup(of: CurlError?.self) { group in
                    group.cancelAll()
                    group.addTask {
                        do throws(CurlError) {
                            _ = try await reactor.execute(CurlRequest(url: url))
                            return nil
                        } catch {
                            return error
                        }
                    }
                    return await group.next() ?? nil
                }
                #expect(error?.code == "backend.cancelled")
            }
            #expect(server.connectionCount == 0)
        }
    }

    @Test(arguments: [CurlRequest.Body.none, .stream(length: nil) { try await $0.write(ByteBuffer(string: "x")) }])
    func `cancelling a task that waits for the head closes the connection`(body: CurlRequest.Body) async throws {
        try await withServer("") { server, seen in
            try await withReactor { reactor in
                let request = CurlRequest(method: .post, url: server.url, body: body)
                await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { _ = try await reactor.execute(request) }
                    #expect(await seen.next() == .request)
                    group.cancelAll()
                    let error = await #expect(throws: CurlError.self) { try await group.next() }
                    #expect(error?.code == "backend.cancelled")
                }
                #expect(await seen.next() == .end)
            }
        }
    }

    @Test func `cancelling a task that reads the body closes the connection`() async throws {
        try await withServer("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf") { server, seen in
            try await withReactor { reactor in
                let reading = Events(of: Void.self)
                let url = server.url
                await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        let response = try await reactor.execute(CurlRequest(url: url))
                        for try await _ in response.body { reading.add(()) }
                    }
                    await reading.next()
                    group.cancelAll()
                    let error = await #expect(throws: CurlError.self) { try await group.next() }
                    #expect(error?.code == "backend.cancelled")
                }
                #expect(await seen.next() == .request)
                #expect(await seen.next() == .end)
            }
        }
    }

    @Test(arguments: [false, true])
    func `dropping a body closes the connection`(afterReading: Bool) async throws {
        try await withServer("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf") { server, seen in
            try await withReactor { reactor in
                do {
                    let response = try await reactor.execute(CurlRequest(url: server.url))
                    if afterReading {
                        var iterator = response.body.makeAsyncIterator()
                        #expect(try await iterator.next() == ByteBuffer(string: "half"))
                    }
                }
                #expect(await seen.next() == .request)
                #expect(await seen.next() == .end)
            }
        }
    }

    @Test func `an upload whose source fails ends the exchange with its error`() async throws {
        struct Unreadable: Error {}
        try await withServer("") { server, seen in
            try await withReactor { reactor in
                let error = await #expect(throws: CurlError.self) {
                    try await reactor.execute(
                        CurlRequest(
                            method: .post, url: server.url,
                            body: .stream(length: nil) { writer in
                                try await writer.write(ByteBuffer(string: "x"))
                                #expect(await seen.next() == .request)
                                throw Unreadable()
                            }))
                }
                guard case .upload(let cause) = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
                #expect(cause is Unreadable)
                #expect(await seen.next() == .end)
            }
        }
    }

    @Test(arguments: [3, 7])
    func `a body of another length than announced is refused`(length: Int64) async throws {
        try await withServer("") { server, _ in
            try await withReactor { reactor in
                let error = await #expect(throws: CurlError.self) {
                    try await reactor.execute(
                        CurlRequest(
                            method: .post, url: server.url,
                            body: .stream(length: length) { try await $0.write(ByteBuffer(string: "12345")) }))
                }
                #expect(error?.code == "backend.request")
            }
        }
    }

    @Test func `a shutdown ends what is running, and nothing starts afterwards`() async throws {
        try await withServer("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf") { server, seen in
            let reactor = try CurlReactor.start()
            let response = try await reactor.execute(CurlRequest(url: server.url))
            await reactor.shutdown()
            let error = await #expect(throws: CurlError.self) { try await response.body.collect(upTo: 10) }
            #expect(error?.code == "backend.shutdown")
            #expect(await seen.next() == .request)
            #expect(await seen.next() == .end)
            let late = await #expect(throws: CurlError.self) { try await reactor.execute(CurlRequest(url: server.url)) }
            #expect(late?.code == "backend.shutdown")
            await reactor.shutdown()
        }
    }

    @Test func `a reactor that is forgotten ends by itself`() async throws {
        try await withServer("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf") { server, seen in
            let body = try await CurlReactor.start().execute(CurlRequest(url: server.url)).body
            let error = await #expect(throws: CurlError.self) { try await body.collect(upTo: 10) }
            #expect(error?.code == "backend.shutdown")
        }
    }

    @Test func `cancelling at any moment leaves neither a task nor a connection behind`() async throws {
        try await LoopbackServer.run { peer in
            while let request = try await peer.readRequest() { try await peer.answer(String(buffer: request.body)) }
        } _: { server in
            try await withReactor { reactor in
                let url = server.url
                for round in 0..<300 {
                    await withTaskGroup(of: Void.self) { group in
                        for number in 0..<4 {
                            let upload = CurlRequest.Body.stream(length: nil) { writer in
                                for _ in 0..<3 { try await writer.write(ByteBuffer(repeating: 65, count: 1000)) }
                            }
                            group.addTask {
                                let body = number % 2 == 0 ? upload : .none
                                let request = CurlRequest(method: .post, url: url, body: body)
                                if let response = try? await reactor.execute(request) {
                                    _ = try? await response.body.collect(upTo: 10_000)
                                }
                            }
                        }
                        for _ in 0..<round % 60 { await Task.yield() }
                        group.cancelAll()
                    }
                }
                // The reactor is as good as new.
                let response = try await reactor.execute(
                    CurlRequest(method: .post, url: url, body: .bytes(ByteBuffer(string: "still here"))))
                #expect(String(buffer: try await response.body.collect(upTo: 100)) == "still here")
            }
        }
    }
}
