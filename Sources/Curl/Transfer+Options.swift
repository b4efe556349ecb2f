// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import CCurl
import NIOCore

extension Transfer {
    private var options: EasyOptions { EasyOptions(easy: easy) }

    /// Sets all options of the request in libcurl; returns false if one fails.
    func setOptions() -> Bool {
        options.setSafety(settings) && options.setAddress(of: request) && setRequest() && setBody() && setCallbacks()
    }

    private func set(_ option: CURLoption, _ value: Int) -> Bool { options.set(option, value) }

    private func setRequest() -> Bool {
        (request.method == "HEAD"
            ? set(CURLOPT_NOBODY, 1) : options.set(CURLOPT_CUSTOMREQUEST, request.method))
            && setLines(request.lines)
    }

    private func setBody() -> Bool {
        let length: Int64?
        switch request.body {
        case .none where ["POST", "PUT", "PATCH"].contains(request.method): length = 0
        case .none: return request.isIdempotent || set(CURLOPT_FRESH_CONNECT, 1)
        case .bytes(let bytes): length = Int64(bytes.readableBytes)
        case .channel(_, let announced): length = announced
        }
        // libcurl repeats a request whose kept connection is dead. For a request whose body has begun, refusing to
        // rewind prevents that; a request without a body needs a new connection.
        guard length != 0 || request.isIdempotent || set(CURLOPT_FRESH_CONNECT, 1) else { return false }
        return set(CURLOPT_UPLOAD, 1)
            && rind_easy_set_offset(easy, CURLOPT_INFILESIZE_LARGE, curl_off_t(length ?? -1)) == CURLE_OK
    }

    private func setCallbacks() -> Bool {
        // The reactor holds the transfer until the handle has left libcurl's multi handle.
        let this = Unmanaged.passUnretained(self).toOpaque()
        var isSet =
            rind_easy_set_pointer(easy, CURLOPT_PRIVATE, this) == CURLE_OK
            && rind_easy_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText) == CURLE_OK
            && rind_easy_set_pointer(easy, CURLOPT_HEADERDATA, this) == CURLE_OK
            && rind_easy_set_pointer(easy, CURLOPT_WRITEDATA, this) == CURLE_OK
            && rind_easy_set_pointer(easy, CURLOPT_READDATA, this) == CURLE_OK
            && rind_easy_set_pointer(easy, CURLOPT_SEEKDATA, this) == CURLE_OK
            && rind_easy_set_pointer(easy, CURLOPT_PREREQDATA, this) == CURLE_OK
            && rind_easy_set_pointer(easy, CURLOPT_SOCKOPTDATA, this) == CURLE_OK
        isSet =
            isSet
            && rind_easy_set_data_callback(easy, CURLOPT_HEADERFUNCTION) { bytes, size, count, this in
                guard let transfer = Transfer.from(this) else { return 0 }
                return transfer.receive(line: UnsafeRawBufferPointer(start: bytes, count: size * count))
            } == CURLE_OK
            && rind_easy_set_data_callback(easy, CURLOPT_WRITEFUNCTION) { bytes, size, count, this in
                guard let transfer = Transfer.from(this) else { return 0 }
                return transfer.receive(UnsafeRawBufferPointer(start: bytes, count: size * count))
            } == CURLE_OK
            && rind_easy_set_data_callback(easy, CURLOPT_READFUNCTION) { bytes, size, count, this in
                guard let transfer = Transfer.from(this) else { return Int(CURL_READFUNC_ABORT) }
                return transfer.send(into: UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
            } == CURLE_OK
        isSet =
            isSet
            && rind_easy_set_socket_callback(easy) { this, socket, _ in
                Transfer.from(this)?.open(socket)
                return CURL_SOCKOPT_OK
            } == CURLE_OK
            && rind_easy_set_prereq_callback(easy) { this, remote, local, remotePort, localPort in
                guard let transfer = Transfer.from(this), let remote, let local else { return CURL_PREREQFUNC_ABORT }
                let ends = ConnectionSockets.Ends(
                    local: String(cString: local), localPort: localPort, remote: String(cString: remote),
                    remotePort: remotePort)
                return transfer.connected(ends) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
            } == CURLE_OK
        guard isSet, request.isIdempotent else { return isSet }
        return rind_easy_set_seek_callback(easy) { this, offset, origin in
            guard let transfer = Transfer.from(this), origin == SEEK_SET, transfer.rewind(to: Int(offset)) else {
                return CURL_SEEKFUNC_FAIL
            }
            return CURL_SEEKFUNC_OK
        } == CURLE_OK
    }

    /// Returns the transfer that a callback was made for.
    static func from(_ pointer: UnsafeMutableRawPointer?) -> Transfer? {
        pointer.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
    }
}
