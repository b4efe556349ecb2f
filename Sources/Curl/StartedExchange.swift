// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// An exchange that has been passed to the reactor's thread.
struct StartedExchange: Sendable {
    /// The body of a request, made while it is sent.
    struct Upload: Sendable {
        let channel: UploadChannel
        let produce: @Sendable (CurlUploadWriter) async throws -> Void

        func run() async { await channel.run(produce) }
    }

    let exchange: Exchange
    let body: BodyProducer
    let upload: Upload?

    func response(_ head: Exchange.Head, _ mailbox: Mailbox) -> CurlResponse {
        CurlResponse(status: head.status, fields: head.fields, body: CurlBody(of: self, mailbox))
    }

    func cancel(_ mailbox: Mailbox) {
        exchange.resolve(.failure(.cancelled))
        mailbox.post(.cancel(exchange.id))
    }
}
