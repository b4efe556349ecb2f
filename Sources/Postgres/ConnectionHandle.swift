// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import CPQ
import Logging

/// A connection of libpq.
// @unchecked: one thread at a time uses it. The thread that opens it passes it to the pool's thread, and that one to the
// thread that closes it; none keeps it.
struct ConnectionHandle: @unchecked Sendable {
    let raw: OpaquePointer

    /// Opens a connection in this thread and makes it ready for pipelines.
    static func open(_ info: ConnectionInfo, timeout: Duration) -> Result<ConnectionHandle, PostgresError> {
        guard let raw = info.connect(timeout: timeout) else { return .failure(.system("libpq has no memory")) }
        let handle = ConnectionHandle(raw: raw)
        if PQstatus(raw) != CONNECTION_OK, handle.wasRefusedByServer {
            // libpq tells an SQLSTATE only in its message, and only if it was asked to before: the server is asked
            // again.
            PQsetErrorVerbosity(raw, PQERRORS_VERBOSE)
            PQreset(raw)
        }
        if let error = handle.fault {
            PQfinish(raw)
            return .failure(error)
        }
        return .success(handle)
    }

    /// The message of the last error.
    var message: String { String(cString: PQerrorMessage(raw)) }

    /// True if the connection cannot be used any more.
    var isBroken: Bool { PQstatus(raw) != CONNECTION_OK }

    /// True if the server has not answered all that it was sent.
    var isAtWork: Bool { PQtransactionStatus(raw) == PQTRANS_ACTIVE }

    /// Closes the connection at once; a transaction is rolled back when the server notices.
    func close() { PQfinish(raw) }

    /// Asks the server to stop what it does, and closes the connection; blocks while the server is asked.
    ///
    /// The connection cannot be kept: the request may reach the server late, and would then stop another statement
    /// (https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-CANCELING-REQUESTS).
    func cancelAndClose() {
        if let cancel = PQgetCancel(raw) {
            var message = [CChar](repeating: 0, count: 256)
            PQcancel(cancel, &message, Int32(message.count))
            PQfreeCancel(cancel)
        }
        PQfinish(raw)
    }

    /// Passes the server's notices to the logger for as long as the connection is open.
    func report(to receiver: NoticeReceiver) {
        PQsetNoticeProcessor(raw, receiveNotice, Unmanaged.passUnretained(receiver).toOpaque())
    }

    /// True if an attempt failed with an answer of the server: after its severity, in whatever language, come two spaces.
    private var wasRefusedByServer: Bool { message.contains(#/: [^\s:]+:  /#) }

    /// The reason why a new connection cannot be used.
    private var fault: PostgresError? {
        guard PQstatus(raw) == CONNECTION_OK else {
            return PostgresError(connecting: message, needsPassword: PQconnectionNeedsPassword(raw) == 1)
        }
        guard let encoding = PQparameterStatus(raw, "client_encoding"), String(cString: encoding) == "UTF8" else {
            return .unreachable("the server does not speak UTF-8")
        }
        guard PQsetnonblocking(raw, 1) == 0, PQenterPipelineMode(raw) == 1 else {
            return .system(PostgresError.clean(message))
        }
        return nil
    }
}

/// Writes the server's notices to the log.
final class NoticeReceiver: Sendable {
    private let logger: Logger

    init(logger: Logger) { self.logger = logger }

    func receive(_ text: String) {
        logger.debug("notice from the database", metadata: ["notice": "\(PostgresError.clean(text))"])
    }
}

/// Passes a notice on.
///
/// The context is the receiver, which the pool's loop keeps for longer than it reads from any connection.
private func receiveNotice(context: UnsafeMutableRawPointer?, text: UnsafePointer<CChar>?) {
    guard let context, let text else { return }
    Unmanaged<NoticeReceiver>.fromOpaque(context).takeUnretainedValue().receive(String(cString: text))
}
