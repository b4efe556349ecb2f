// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import CCurl

/// Keeps libcurl's handles of ended exchanges for the next ones: a handle has buffers of 200 KiB, whose allocation takes
/// as long as a small exchange.
///
/// Connections do not belong to handles, and TLS sessions are not kept, so nothing of an exchange is left after
/// `curl_easy_reset` but its buffers. Before 8.1.0 something else was: a pointer to the last header field, which is
/// freed, and into which an answer writes whose first line is continued (https://github.com/curl/curl/issues/11101). So
/// older libraries get a new handle each time. Used on the reactor's thread only.
final class EasyHandles {
    /// True if nothing is left in a handle that was reset.
    private static let canReuse = rind_version() >= 0x08_01_00

    private let limit: Int
    private var free: [UnsafeMutableRawPointer] = []

    /// Creates a store of at most `limit` handles.
    init(limit: Int) { self.limit = Self.canReuse ? limit : 0 }

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
