// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// Holds a second descriptor of a connection, which stays open when libcurl closes its own.
final class KeptSocket {
    private let descriptor: Int32

    /// Duplicates a descriptor; nil if there are no more.
    init?(_ socket: Int32) {
        descriptor = fcntl(socket, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { return nil }
    }

    deinit { close(descriptor) }

    /// Returns the answer that has come and was not read yet; nil if none has, or not all of one.
    func answer(to method: String, headLimit: Int) -> EarlyAnswer? {
        let (bytes, isEnded) = rest(upTo: headLimit + EarlyAnswer.maximumBody)
        return EarlyAnswer(bytes, isEnded: isEnded, answering: method, headLimit: headLimit)
    }

    /// Returns what has come, and whether the server has ended its side behind it, in good order.
    private func rest(upTo limit: Int) -> (bytes: [UInt8], isEnded: Bool) {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 * 1024)
        while bytes.count < limit {
            let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            guard count > 0 else { return (bytes, count == 0) }
            bytes += buffer.prefix(count)
        }
        return (bytes, false)
    }
}
