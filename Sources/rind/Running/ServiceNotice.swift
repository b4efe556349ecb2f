// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A notice to the service manager of how far the gateway has got, by the protocol of sd_notify(3).
enum ServiceNotice: String {
    /// Clients can connect.
    case ready = "READY=1"
    /// The configuration is being read again; `ready` follows.
    case reloading = "RELOADING=1"
    /// The gateway drains, and will end.
    case stopping = "STOPPING=1"

    /// Sends the notice to the socket that the manager has named; does nothing if there is none.
    ///
    /// A notice that cannot be sent is dropped: the manager waits for `ready` and reports its own timeout.
    ///
    /// - Parameter path: The value of `NOTIFY_SOCKET`: an absolute path, or `@` and a name without a file.
    func send(to path: String? = ProcessInfo.processInfo.environment["NOTIFY_SOCKET"]) {
        guard let path, let address = Self.address(path) else { return }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let text = Array(content.utf8)
        address.withUnsafeBytes { address in
            guard let base = address.baseAddress else { return }
            _ = sendto(
                descriptor, text, text.count, Int32(MSG_NOSIGNAL), base.assumingMemoryBound(to: sockaddr.self),
                socklen_t(address.count))
        }
    }

    /// The notice with what belongs to it: systemd tells a reload from an earlier one by its time.
    private var content: String {
        guard self == .reloading else { return rawValue }
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return "\(rawValue)\nMONOTONIC_USEC=\(time.tv_sec * 1_000_000 + time.tv_nsec / 1_000)"
    }

    /// Returns the bytes of a socket's address, as long as its name (unix(7)); nil if it is no name, or too long.
    static func address(_ path: String) -> [UInt8]? {
        var name = Array(path.utf8)
        guard let first = name.first, first == UInt8(ascii: "/") || first == UInt8(ascii: "@"),
            name.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path)
        else { return nil }
        if first == UInt8(ascii: "@") { name[0] = 0 } else { name.append(0) }
        return withUnsafeBytes(of: sa_family_t(AF_UNIX), Array.init) + name
    }
}
