// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import CCurl

/// Keeps libcurl's handles of ended exchanges for the next ones: a handle has buffers of 200 KiB, whose allocation takes
/// as long as a small exchange.
///
/// Connections do not belong to handles, and TLS sessions are not kept, so nothing of an exchange is left after
/// `curl_easy_reset` but its buffers. Used on the reactor's thread only.
final class EasyHandles {
    private let limit: Int
    private var free: [UnsafeMutableRawPointer] = []

    /// Creates a store of at most `limit` handles.
    init(limit: Int) { self.limit = limit }

    deinit { for handle in free { curl_easy_cleanup(handle) } }

    /// Returns a handle with default options; nil if libcurl has no memory for one.
    func take() -> UnsafeMutableRawPointer? { free.popLast() ?? curl_easy_init() }

    /// Takes a handle back; one whose exchange has failed is not used again.
    func giveBack(_ handle: UnsafeMutableRawPointer, isSound: Bool) {
        guard isSound, free.count < limit else { return curl_easy_cleanup(handle) }
        curl_easy_reset(handle)
        free.append(handle)
    }
}
