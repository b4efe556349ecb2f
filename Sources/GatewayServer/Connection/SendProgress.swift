// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The progress of the bytes that were written to a connection.
///
/// A full buffer of the system means little: it grows to megabytes, and reports room only when a third of it is free,
/// which takes minutes with a slow reader. The system is therefore asked how much the other side has acknowledged.
struct SendProgress: Equatable {
    /// The number of bytes that the other side has acknowledged.
    var taken: UInt64
    /// The number of bytes that have not left yet and lie in the channel's own buffer or the system's.
    var unsent: Int
    /// True if bytes are on their way and not acknowledged.
    var isUnderWay: Bool

    /// The most bytes in the system's buffer, besides those that are on their way.
    ///
    /// This is enough to keep a fast client busy; more would only make the end of an answer uncertain.
    private static let unsentLimit: CInt = 128 * 1_024

    /// The most bytes that may wait in the channel before it takes no more, until all of them have left.
    ///
    /// Each slow client holds this and a piece of its answer in memory. The system's buffer keeps the connection busy
    /// meanwhile.
    private static let waitingLimit = 32 * 1_024

    /// Keeps the channel and the system from accepting many more bytes than the client has taken.
    static func limitBuffer(of channel: any Channel) throws {
        try channel.syncOptions?.setOption(.writeBufferWaterMark, value: .init(low: 1, high: waitingLimit))
        #if os(Linux)
        // A Unix socket has no such buffer.
        guard channel.localAddress?.protocol != .unix else { return }
        let option = ChannelOptions.Types.SocketOption(
            level: .tcp, name: NIOBSDSocket.Option(rawValue: CInt(TCP_NOTSENT_LOWAT)))
        try channel.syncOptions?.setOption(option, value: SocketOptionValue(unsentLimit))
        #endif
    }

    /// Reads the progress of a channel, on its event loop; `written` is for systems that do not report acknowledged
    /// bytes.
    static func look(at channel: any Channel, written: UInt64) -> EventLoopFuture<SendProgress> {
        let buffered = (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
        let guess = SendProgress(taken: written &- UInt64(buffered), unsent: buffered, isUnderWay: false)
        #if os(Linux)
        guard channel.localAddress?.protocol != .unix, let provider = channel as? any SocketOptionProvider else {
            return channel.eventLoop.makeSucceededFuture(guess)
        }
        let words: EventLoopFuture<Words> = provider.unsafeGetSocketOption(
            level: .tcp, name: NIOBSDSocket.Option(rawValue: CInt(TCP_INFO)))
        return words.map { SendProgress($0, guess) }
        #else
        return channel.eventLoop.makeSucceededFuture(guess)
        #endif
    }
}

#if os(Linux)
extension SendProgress {
    /// The beginning of the kernel's `struct tcp_info`, which is longer than the C library's.
    fileprivate typealias Words = (
        UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64,
        UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64
    )

    fileprivate init(_ words: Words, _ guess: SendProgress) {
        // linux/tcp.h: tcpi_unacked, tcpi_bytes_acked and tcpi_notsent_bytes.
        let (unacked, acked, unsent) = withUnsafeBytes(of: words) { bytes in
            (
                bytes.loadUnaligned(fromByteOffset: 24, as: UInt32.self),
                bytes.loadUnaligned(fromByteOffset: 120, as: UInt64.self),
                bytes.loadUnaligned(fromByteOffset: 144, as: UInt32.self)
            )
        }
        // Zero if no byte was acknowledged yet, or the system does not count them.
        taken = acked > 0 ? acked : guess.taken
        self.unsent = guess.unsent + Int(unsent)
        isUnderWay = unacked > 0
    }
}
#endif
