// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

package import HTTPTypes
package import NIOCore

/// One request to a backend.
package struct CurlRequest: Sendable {
    /// The body to send after the head.
    package enum Body: Sendable {
        /// No body; `POST`, `PUT` and `PATCH` then send `Content-Length: 0`.
        case none
        /// These bytes.
        case bytes(ByteBuffer)
        /// The bytes that `produce` writes, sent while it writes them; chunked if the length is nil.
        ///
        /// `produce` runs as a child of the task that executes the request. Each of its writes waits until the bytes
        /// are on their way, so a slow server slows it down. Its error becomes ``CurlError/upload(_:)``. It is
        /// cancelled as soon as the server takes no more bytes.
        case stream(length: Int64?, produce: @Sendable (CurlUploadWriter) async throws -> Void)

        /// Creates a body from the elements of a sequence, in their order.
        package static func sequence(
            _ sequence: some AsyncSequence<ByteBuffer, any Error> & Sendable, length: Int64?
        ) -> Body {
            .stream(length: length) { writer in
                for try await chunk in sequence { try await writer.write(chunk) }
            }
        }
    }

    /// The method; `CONNECT` is refused.
    package var method: HTTPRequest.Method
    /// An absolute `http` or `https` URL, percent-encoded as it must be sent: the path is sent unchanged.
    ///
    /// Spaces, control characters, characters outside ASCII, user names and fragments are refused before anything is
    /// sent.
    package var url: String
    /// The header fields; those that frame the message are refused (`Host`, `Content-Length`, `Connection`, …).
    package var fields: HTTPFields
    /// The body.
    package var body: Body
    /// The protocols that the server is asked to switch to, as in `Upgrade`; nil for an ordinary exchange.
    ///
    /// If the server switches (101), the answer's body is what it sends after that, and the body of the request, which
    /// must be a stream without length, is sent as it is: a *tunnel*, which no time limit ends. If the server answers
    /// anything else, nothing of the body is sent. Only ``CurlReactor/perform(_:_:)`` takes such requests.
    package var upgrade: String?
    /// The time limits for the parts of the exchange.
    package var timeouts: CurlTimeouts
    /// True if it does no harm when the server receives the request twice.
    ///
    /// Only such a request is repeated when a kept connection turns out to be dead.
    package var isIdempotent: Bool

    /// Creates a request; it is idempotent if its method is by RFC 9110, 9.2.2.
    package init(
        method: HTTPRequest.Method = .get, url: String, fields: HTTPFields = [:], body: Body = .none,
        timeouts: CurlTimeouts = CurlTimeouts()
    ) {
        self.method = method
        self.url = url
        self.fields = fields
        self.body = body
        self.timeouts = timeouts
        isIdempotent = [.get, .head, .options, .trace, .put, .delete].contains(method)
    }
}

/// The time limits for the parts of an exchange; nil is no limit.
package struct CurlTimeouts: Hashable, Sendable {
    /// The longest time until the connection is ready for the request; the wait for a free one counts.
    package var connect: Duration?
    /// The longest time from the end of the request to the first byte of the answer.
    package var firstByte: Duration?
    /// The longest time between two bytes of the answer, or of a request that the server does not take.
    ///
    /// Time in which this side wanted no bytes, or had none to send, does not count.
    package var idle: Duration?
    /// The longest time for the whole exchange, slow readers included.
    package var total: Duration?

    /// Creates timeouts with the usual values for a short call.
    package init(
        connect: Duration? = .seconds(10), firstByte: Duration? = .seconds(60), idle: Duration? = .seconds(60),
        total: Duration? = nil
    ) {
        self.connect = connect
        self.firstByte = firstByte
        self.idle = idle
        self.total = total
    }
}
