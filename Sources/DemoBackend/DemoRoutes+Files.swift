// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import NIOCore

/// The routes for media, which apps load past a sync gateway.
extension DemoRoutes {
    func addFiles(to router: Router<DemoContext>) {
        router.get("/files/:name") { request, context in
            try await file(named: try context.parameters.require("name"), request)
        }
        router.head("/files/:name") { request, context in
            var response = try await file(named: try context.parameters.require("name"), request)
            response.body = .init(contentLength: response.body.contentLength) { try await $0.finish(nil) }
            return response
        }
        router.post("/files") { request, _ in try await receive(request) }
    }

    private func file(named name: String, _ request: Request) async throws -> Response {
        _ = try await caller(of: request)
        guard let file = backend.files.file(named: name) else {
            throw DemoError(status: .notFound, message: "no such file")
        }
        var headers: HTTPFields = [
            .contentType: "application/octet-stream", .acceptRanges: "bytes", .eTag: file.tag,
            .cacheControl: "private, max-age=60",
        ]
        if let known = request.headers[.ifNoneMatch],
            known == "*" || known.split(separator: ",").contains(where: { $0.trimmed == file.tag })
        {
            return Response(status: .notModified, headers: headers)
        }
        let applies = request.headers[.ifRange].map { $0 == file.tag } ?? true
        var range = 0..<file.size
        var status = HTTPResponse.Status.ok
        if applies, let field = request.headers[.range], let asked = Self.range(field, size: file.size) {
            guard let satisfiable = asked.range else {
                headers[.contentRange] = "bytes */\(file.size)"
                return Response(status: .rangeNotSatisfiable, headers: headers)
            }
            range = satisfiable
            status = .partialContent
            headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(file.size)"
        }
        let part = range
        let body = ResponseBody(contentLength: part.count) { writer in
            var start = part.lowerBound
            while start < part.upperBound {
                let end = min((start / DemoFiles.blockSize + 1) * DemoFiles.blockSize, part.upperBound)
                try await writer.write(file.bytes(start..<end))
                start = end
            }
            try await writer.finish(nil)
        }
        return Response(status: status, headers: headers, body: body)
    }

    /// Returns the single range of a `Range` field.
    ///
    /// The result is nil if there are several ranges, or none that is understood, so that the whole file is sent (RFC
    /// 9110, 14.2); its `range` is nil if it lies outside of the file.
    private static func range(_ field: String, size: Int) -> (range: Range<Int>?, Void)? {
        guard field.hasPrefix("bytes="), !field.contains(",") else { return nil }
        let parts = field.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        if parts[0].isEmpty {
            guard let count = Int(parts[1]), count >= 0 else { return nil }
            return (count == 0 || size == 0 ? nil : max(0, size - count)..<size, ())
        }
        guard let first = Int(parts[0]), first >= 0 else { return nil }
        guard let last = parts[1].isEmpty ? size - 1 : Int(parts[1]), parts[1].isEmpty || last >= first else {
            return nil
        }
        return (first < size ? first..<min(last + 1, size) : nil, ())
    }

    /// Receives a file of any size and answers with its size and checksum.
    private func receive(_ request: Request) async throws -> Response {
        _ = try await caller(of: request)
        var size = 0
        var checksum: UInt64 = 0xcbf2_9ce4_8422_2325
        var kept: [UInt8] = []
        for try await buffer in request.body {
            size += buffer.readableBytes
            for byte in buffer.readableBytesView { checksum = (checksum ^ UInt64(byte)) &* 0x100_0000_01b3 }
            if size <= DemoFiles.largestStored { kept.append(contentsOf: buffer.readableBytesView) } else { kept = [] }
        }
        let name = "upload-\(store.ids.next())"
        let isStored = size <= DemoFiles.largestStored && backend.files.store(kept, as: name)
        return Response(
            status: .created,
            json: [
                "name": isStored ? .string(name) : .null, "size": .number(Double(size)),
                "checksum": .string(String(checksum, radix: 16)),
            ])
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        var text = self
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return text
    }
}
