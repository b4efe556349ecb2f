// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import CCurl
import NIOCore

/// The exchanges of a reactor that ask for another protocol; used on the reactor's thread only.
final class UpgradeTransfers {
    private let multi: UnsafeMutableRawPointer
    private let settings: CurlReactor.Settings
    private var transfers: [UInt64: UpgradeTransfer] = [:]
    /// The numbers of those that may have something to do.
    private var ready: Set<UInt64> = []
    /// The sockets that are watched, and the numbers of their exchanges.
    private var watched: (sockets: [curl_waitfd], ids: [UInt64]) = ([], [])
    private let piece = UnsafeMutableRawBufferPointer.allocate(
        byteCount: UpgradeTransfer.pieceSize, alignment: 1)

    init(multi: UnsafeMutableRawPointer, settings: CurlReactor.Settings) {
        self.multi = multi
        self.settings = settings
    }

    deinit { piece.deallocate() }

    /// Begins an exchange.
    func start(_ request: PreparedRequest, _ exchange: Exchange, sending channel: UploadChannel) {
        let new = UpgradeTransfer(request, exchange: exchange, channel: channel, settings: settings, now: .now())
        guard let transfer = new else {
            channel.close()
            return exchange.finish(.system("libcurl refused an option"))
        }
        transfers[transfer.id] = transfer
        guard curl_multi_add_handle(multi, transfer.easy) == CURLM_OK else {
            return end(transfer, .system("libcurl refused the transfer"))
        }
    }

    /// Takes the connection of the exchange that a handle belongs to, or the reason why there is none.
    func connected(_ easy: UnsafeMutableRawPointer?, _ code: CURLcode) {
        guard let transfer = transfers.values.first(where: { $0.easy == easy }) else { return }
        guard code == CURLE_OK else {
            return end(
                transfer, CurlError(code, String(cString: curl_easy_strerror(code)), isConnected: false))
        }
        guard transfer.connected() else { return end(transfer, .closed("the connection is gone")) }
        ready.insert(transfer.id)
    }

    /// Continues one whose reader wants more bytes; does nothing if there is none of that number.
    func resume(_ id: UInt64) {
        guard let transfer = transfers[id] else { return }
        transfer.resume()
        ready.insert(id)
    }

    /// Continues one that has bytes to send.
    func resumeUpload(_ id: UInt64) {
        if transfers[id] != nil { ready.insert(id) }
    }

    /// Ends one.
    func end(_ id: UInt64, _ error: CurlError) {
        if let transfer = transfers[id] { end(transfer, error) }
    }

    /// Ends all.
    func endAll(_ error: CurlError) {
        for transfer in Array(transfers.values) { end(transfer, error) }
    }

    /// Moves bytes of those that have something to do, and ends overdue ones.
    ///
    /// - Returns: The time of the next deadline; the present if there is more to do.
    func run(at now: NIODeadline) -> NIODeadline {
        for id in Array(ready) {
            guard let transfer = transfers[id] else {
                ready.remove(id)
                continue
            }
            switch transfer.pump(piece) {
            case .waits: ready.remove(id)
            case .more: break
            case .ended(let error): end(transfer, error)
            }
        }
        var wake = ready.isEmpty ? NIODeadline.distantFuture : now
        for transfer in Array(transfers.values) {
            guard let deadline = transfer.nextDeadline else { continue }
            if deadline.at <= now { end(transfer, .timeout(deadline.which)) } else { wake = min(wake, deadline.at) }
        }
        return wake
    }

    /// Waits with libcurl until one of its sockets or of these is ready, the mailbox has something, or the time is over.
    func wait(milliseconds: Int32) {
        watched.sockets.removeAll(keepingCapacity: true)
        watched.ids.removeAll(keepingCapacity: true)
        for transfer in transfers.values {
            guard let interest = transfer.interest else { continue }
            watched.sockets.append(interest)
            watched.ids.append(transfer.id)
        }
        curl_multi_poll(multi, &watched.sockets, UInt32(watched.sockets.count), milliseconds, nil)
        for (socket, id) in zip(watched.sockets, watched.ids) where socket.revents != 0 { ready.insert(id) }
    }

    private func end(_ transfer: UpgradeTransfer, _ error: CurlError?) {
        transfers[transfer.id] = nil
        ready.remove(transfer.id)
        // Closes the connection, which serves nothing else.
        curl_multi_remove_handle(multi, transfer.easy)
        transfer.finish(error)
    }
}
