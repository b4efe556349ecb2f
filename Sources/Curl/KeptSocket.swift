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
        EarlyAnswer(rest(upTo: headLimit + EarlyAnswer.maximumBody), answering: method, headLimit: headLimit)
    }

    private func rest(upTo limit: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 * 1024)
        while bytes.count < limit {
            let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            guard count > 0 else { break }
            bytes += buffer.prefix(count)
        }
        return bytes
    }
}
