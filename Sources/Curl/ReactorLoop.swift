// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import CCurl
import NIOCore

/// Does the work of the reactor's thread, which alone uses the handles of libcurl.
final class ReactorLoop {
    /// The longest sleep of the thread when no deadline is near.
    private static let longestSleep = TimeAmount.seconds(60)

    private let multi: UnsafeMutableRawPointer
    private let mailbox: Mailbox
    private let settings: CurlReactor.Settings
    private var transfers: [UInt64: Transfer] = [:]
    private let upgrades: UpgradeTransfers
    private let handles: EasyHandles
    private let sockets = ConnectionSockets()
    private var isStopping = false

    init(multi: MultiHandle, mailbox: Mailbox, settings: CurlReactor.Settings) {
        self.multi = multi.raw
        self.mailbox = mailbox
        self.settings = settings
        upgrades = UpgradeTransfers(multi: multi.raw, settings: settings)
        handles = EasyHandles(limit: settings.maximumIdleConnections)
    }

    /// Runs until it is told to stop; then fails the remaining transfers and frees the handle.
    func run() {
        while true {
            for command in mailbox.drain() { handle(command) }
            guard !isStopping else { break }
            var running: Int32 = 0
            curl_multi_perform(multi, &running)
            collectFinished()
            let wake = checkTransfers()
            wait(until: wake)
        }
        for command in mailbox.close() {
            if case .start(_, let exchange) = command { exchange.finish(.shutDown) }
        }
        for transfer in Array(transfers.values) { end(transfer, .shutDown) }
        upgrades.endAll(.shutDown)
        curl_multi_cleanup(multi)
    }

    private func handle(_ command: Mailbox.Command) {
        switch command {
        case .start(let request, let exchange):
            if request.upgrade != nil, case .channel(let channel, _) = request.body {
                upgrades.start(request, exchange, sending: channel)
            } else {
                start(request, exchange)
            }
        case .resume(let id):
            transfers[id]?.resume()
            upgrades.resume(id)
        case .cancel(let id):
            if let transfer = transfers[id] { end(transfer, .cancelled) }
            upgrades.end(id, .cancelled)
        case .resumeUpload(let id):
            transfers[id]?.resumeUpload()
            upgrades.resumeUpload(id)
        case .failUpload(let id, let error):
            let error = error as? CurlError ?? .upload(error)
            if let transfer = transfers[id], transfer.isUploading { end(transfer, error) }
            upgrades.end(id, error)
        case .stop: isStopping = true
        }
    }

    private func start(_ request: PreparedRequest, _ exchange: Exchange) {
        let prepared = Transfer(
            request, exchange: exchange, settings: settings, handles: handles, sockets: sockets, now: .now())
        guard let transfer = prepared else {
            exchange.finish(.system("libcurl refused an option"))
            if case .channel(let channel, _) = request.body { channel.close() }
            return
        }
        transfers[transfer.id] = transfer
        guard curl_multi_add_handle(multi, transfer.easy) == CURLM_OK else {
            return end(transfer, .system("libcurl refused the transfer"))
        }
    }

    private func end(_ transfer: Transfer, _ error: CurlError?) {
        transfers[transfer.id] = nil
        // Closes the connection if the exchange is not complete.
        curl_multi_remove_handle(multi, transfer.easy)
        transfer.finish(error)
    }

    private func collectFinished() {
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE else { continue }
            let code = message.pointee.data.result
            guard let transfer = Transfer.from(rind_easy_private(message.pointee.easy_handle)) else {
                upgrades.connected(message.pointee.easy_handle, code)
                continue
            }
            if code == CURLE_OK || transfer.takeEarlyAnswer(after: code) {
                end(transfer, nil)
            } else if transfer.beginAgain(after: code) {
                curl_multi_remove_handle(multi, transfer.easy)
                guard curl_multi_add_handle(multi, transfer.easy) == CURLM_OK else {
                    end(transfer, .system("libcurl refused the transfer"))
                    continue
                }
            } else {
                let text = String(cString: transfer.errorText)
                let error = CurlError(
                    code, text.isEmpty ? String(cString: curl_easy_strerror(code)) : text,
                    isConnected: transfer.phase != .connecting)
                end(transfer, transfer.failure ?? error)
            }
        }
    }

    /// Passes on received bytes, ends overdue transfers, and returns the time to wake up: the next deadline at the
    /// latest.
    private func checkTransfers() -> NIODeadline {
        let now = NIODeadline.now()
        var wake = now + Self.longestSleep
        var ended: [(Transfer, CurlError)] = []
        for transfer in transfers.values {
            transfer.releaseUpload()
            if !transfer.flush() {
                ended.append((transfer, .cancelled))
            } else if let deadline = transfer.nextDeadline {
                if deadline.at <= now {
                    ended.append((transfer, .timeout(deadline.which)))
                } else {
                    wake = min(wake, deadline.at)
                }
            }
        }
        for (transfer, error) in ended { end(transfer, error) }
        return min(wake, upgrades.run(at: now))
    }

    private func wait(until wake: NIODeadline) {
        let left = max(.nanoseconds(0), wake - .now())
        // Rounded up: a sleep that ended just before the deadline would only lead to another one.
        let milliseconds = Int32(clamping: (left.nanoseconds + 999_999) / 1_000_000)
        upgrades.wait(milliseconds: milliseconds)
    }
}
