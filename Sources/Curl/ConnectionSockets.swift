// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// Knows the socket of each connection of a reactor, since libcurl does not tell which one a request is about to use.
///
/// Used on the reactor's thread only. Has at most as many entries as the process has descriptors.
final class ConnectionSockets {
    /// The two ends of a connection, of which there is one at a time.
    struct Ends: Hashable {
        var local: String
        var localPort: Int32
        var remote: String
        var remotePort: Int32
    }

    private var sockets: [Ends: Int32] = [:]
    private var ends: [Int32: Ends] = [:]

    /// Notes a new connection.
    ///
    /// - Parameters:
    ///   - new: The ends of the connection.
    ///   - candidates: The sockets that were opened for it: one for each address that was tried.
    func add(_ new: Ends, openedAs candidates: [Int32]) {
        guard let socket = candidates.last(where: { Self.localPort(of: $0) == new.localPort }) else { return }
        // The descriptor of a connection that was closed serves another one now.
        if let old = ends.updateValue(new, forKey: socket) { sockets[old] = nil }
        if let old = sockets.updateValue(socket, forKey: new), old != socket { ends[old] = nil }
    }

    /// Returns a second descriptor of a connection; nil if it is unknown.
    func kept(_ ends: Ends) -> KeptSocket? { sockets[ends].flatMap(KeptSocket.init) }

    /// Returns true if a kept connection has bytes that nobody has asked for, or its end, or is unknown.
    func hasUnaskedBytes(_ kept: Ends) -> Bool {
        guard let socket = sockets[kept] else { return true }
        var byte: UInt8 = 0
        let count = recv(socket, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        return count >= 0 || errno != EAGAIN && errno != EWOULDBLOCK
    }

    private static func localPort(of socket: Int32) -> Int32? {
        var address = sockaddr_in6()
        var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &size) }
        }
        // The port is at the same place in addresses of IPv4.
        return result == 0 ? Int32(UInt16(bigEndian: address.sin6_port)) : nil
    }
}
