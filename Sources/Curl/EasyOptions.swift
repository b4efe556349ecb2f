// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import CCurl
import NIOCore

/// Sets the options that every connection of libcurl has; each method returns false if libcurl refuses one.
struct EasyOptions {
    let easy: UnsafeMutableRawPointer

    func set(_ option: CURLoption, _ value: Int) -> Bool {
        rind_easy_set_long(easy, option, value) == CURLE_OK
    }

    func set(_ option: CURLoption, _ value: String) -> Bool {
        // libcurl copies strings.
        rind_easy_set_string(easy, option, value) == CURLE_OK
    }

    /// Sets the options that keep a transfer to its host, and its bytes unchanged.
    func setSafety(_ settings: CurlReactor.Settings) -> Bool {
        var isSet =
            set(CURLOPT_PROTOCOLS_STR, "http,https")
            && set(CURLOPT_FOLLOWLOCATION, 0) && set(CURLOPT_PATH_AS_IS, 1)
            && set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
            && set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
            // An empty name overrides the environment variables.
            && set(CURLOPT_PROXY, "")
            && set(CURLOPT_NOSIGNAL, 1)
            && set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
            && set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
            && set(CURLOPT_SSL_VERIFYPEER, 1) && set(CURLOPT_SSL_VERIFYHOST, 2)
            // The cache belongs to the handle, which serves other exchanges later.
            && set(CURLOPT_SSL_SESSIONID_CACHE, 0)
            // Bodies are passed on unchanged: libcurl's own decoding has no limit while a transfer is paused.
            && set(CURLOPT_HTTP_CONTENT_DECODING, 0)
            && set(CURLOPT_TCP_KEEPALIVE, 1)
            // Without it the end of a transfer would wait for a name server that does not answer.
            && set(CURLOPT_QUICK_EXIT, 1)
            && set(CURLOPT_BUFFERSIZE, 128 * 1024)
            && set(CURLOPT_MAXAGE_CONN, settings.idleConnectionAgeInSeconds)
        if let file = settings.caFile { isSet = isSet && set(CURLOPT_CAINFO, file) }
        if let file = settings.clientCertificate { isSet = isSet && set(CURLOPT_SSLCERT, file) }
        if let file = settings.clientKey { isSet = isSet && set(CURLOPT_SSLKEY, file) }
        return isSet
    }

    /// Sets where the request goes, and how long the connection may take.
    func setAddress(of request: PreparedRequest) -> Bool {
        // The deadline of the transfer decides; libcurl gets it so that it tries the host's next address in time.
        let connect = request.timeouts.connect.map { TimeAmount($0).nanoseconds / 1_000_000 } ?? 24 * 3_600_000
        return set(CURLOPT_URL, request.url)
            && set(CURLOPT_CONNECTTIMEOUT_MS, Int(min(max(connect, 1), 24 * 3_600_000)))
    }
}
