// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import DemoBackend
import Foundation
import Glibc
import Testing

@testable import rind

/// What systemd hears of a gateway that it has started with `Type=notify`.
@Suite struct ServiceNoticeTests {
    /// The socket of a service manager.
    private final class Manager: Sendable {
        private let descriptor: CInt

        init(at path: String) throws {
            descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
            var patience = timeval(tv_sec: 30, tv_usec: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
            let address = try #require(ServiceNotice.address(path))
            let result = address.withUnsafeBytes { address in
                address.baseAddress.map {
                    bind(descriptor, $0.assumingMemoryBound(to: sockaddr.self), socklen_t(address.count))
                }
            }
            try #require(result == 0)
        }

        deinit { close(descriptor) }

        /// The next notice; empty if none comes in time.
        func next() async -> String {
            await withCheckedContinuation { continuation in
                Thread { [descriptor] in
                    var bytes = [UInt8](repeating: 0, count: 256)
                    let count = recv(descriptor, &bytes, bytes.count, 0)
                    continuation.resume(returning: String(decoding: bytes.prefix(max(0, count)), as: UTF8.self))
                }.start()
            }
        }
    }

    @Test(arguments: ["", "@rind-notice-"])
    func `systemd hears when clients can connect, and when the gateway reloads and drains`(name: String) async throws {
        try await DemoBackend.withRunning { backend in
            try await Place.withDirectory { directory in
                let path =
                    name.isEmpty
                    ? directory.appending(path: "notify").path(percentEncoded: false) : name + UUID().uuidString
                let manager = try Manager(at: path)
                try await ServedGateway.with(backend, environment: ["NOTIFY_SOCKET": path]) { gateway in
                    #expect(await manager.next() == "READY=1")
                    let live = try await gateway.get("/livez")
                    #expect(live.status == 200)
                    gateway.command.signal(SIGHUP)
                    #expect(await manager.next().hasPrefix("RELOADING=1\nMONOTONIC_USEC="))
                    #expect(await manager.next() == "READY=1")
                    gateway.command.signal(SIGTERM)
                    #expect(await manager.next() == "STOPPING=1")
                    #expect(await gateway.command.finished().status == 0)
                }
            }
        }
    }

    @Test func `a manager that is gone does no harm`() async throws {
        try await DemoBackend.withRunning { backend in
            try await ServedGateway.with(backend, environment: ["NOTIFY_SOCKET": "/nowhere/at/all"]) { gateway in
                let live = try await gateway.get("/livez")
                #expect(live.status == 200)
            }
        }
    }

    @Test(arguments: ["", "notify", "vsock:2:1", "/" + String(repeating: "n", count: 107)])
    func `what is no name of a socket is none`(name: String) {
        #expect(ServiceNotice.address(name) == nil)
    }
}
