// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import CCurl

extension CurlError {
    /// Converts a result code of libcurl.
    ///
    /// - Parameters:
    ///   - code: Any code except `CURLE_OK`.
    ///   - text: libcurl's description of the error.
    ///   - isConnected: True if the connection had been made before the error.
    init(_ code: CURLcode, _ text: String, isConnected: Bool) {
        switch code {
        // For an answer this is HTTP/0.9: bytes without a head.
        case CURLE_UNSUPPORTED_PROTOCOL where isConnected: self = .protocolViolation(text)
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT, CURLE_LOGIN_DENIED:
            self = .invalidRequest(text)
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: self = .resolve(text)
        case CURLE_COULDNT_CONNECT: self = .connect(text)
        case CURLE_OPERATION_TIMEDOUT: self = .timeout(isConnected ? .total : .connect)
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ENGINE_NOTFOUND,
            CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_CACERT_BADFILE,
            CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT:
            self = .tls(text)
        case CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_SEND_FAIL_REWIND:
            self = .closed(text)
        case CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING, CURLE_FILESIZE_EXCEEDED:
            self = .protocolViolation(text)
        default: self = .system(text)
        }
    }
}
