// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOPosix

/// A client that reads its answer slowly and steadily, with a socket as a phone has one.
struct SlowReader: Sendable {
    /// Bytes a second.
    var rate: Int
    /// The receive buffer of its socket, in bytes; the system doubles it.
    var buffer: Int
    /// How long it reads slowly; then it takes the rest as fast as it can.
    var seconds: Double

    /// What became of one answer.
    struct Outcome: Sendable {
        /// How many bytes came, the head included.
        var count = 0
        /// The end of them.
        var tail: [UInt8] = []
        /// What ended the reading where it was not the end of the connection.
        var failure: Int32?
    }

    /// Why there is no connection.
    struct NotConnected: Error {
        var errno: Int32
    }

    /// Sends a request and reads until the connection ends, after a pause.
    func read(port: Int, request: String, pause: Duration = .zero) async throws -> Outcome {
        // A thread of its own, so that it reads on while other tests keep the pools busy.
        let pool = NIOThreadPool(numberOfThreads: 1)
        pool.start()
        let result: Result<Outcome, any Error>
        do {
            let socket = try connected(port)
            defer { close(socket) }
            _ = request.withCString { send(socket, $0, strlen($0), 0) }
            try await Task.sleep(for: pause)
            result = .success(try await pool.runIfActive { read(socket) })
        } catch {
            result = .failure(error)
        }
        try await pool.shutdownGracefully()
        return try result.get()
    }

    private func read(_ socket: Int32) -> Outcome {
        var outcome = Outcome()
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let start = ContinuousClock.now
        while true {
            let isSlow = ContinuousClock.now - start < .seconds(seconds)
            let count = recv(socket, &bytes, isSlow ? rate / 4 : bytes.count, 0)
            if count < 0 { outcome.failure = errno }
            if count <= 0 { return outcome }
            outcome.count += count
            outcome.tail = Array((outcome.tail + bytes[..<count]).suffix(64))
            // Its pace is what is tested; nothing else would end this wait.
            if isSlow { poll(nil, 0, Int32(count * 1_000 / rate)) }
        }
    }

    private func connected(_ port: Int) throws -> Int32 {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard socket >= 0 else { throw NotConnected(errno: errno) }
        // Segments as on a real network: over the loopback one would have 64 KiB, and the window would move by as much.
        for (level, name, value) in [
            (SOL_SOCKET, SO_RCVBUF, Int32(buffer)), (Int32(IPPROTO_TCP), TCP_MAXSEG, 1_400),
        ] {
            var value = value
            setsockopt(socket, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(socket, $0, size) }
        }
        guard result == 0 else {
            close(socket)
            throw NotConnected(errno: errno)
        }
        return socket
    }
}
