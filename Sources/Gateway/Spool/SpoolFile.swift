// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import NIOPosix

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Makes the files that spools overflow into.
package protocol SpoolFiles: Sendable {
    /// Makes an empty file, which is removed with the last reference to it.
    func open() async throws(SpoolError) -> any SpoolFile
}

/// Holds the bytes that a spool has no memory for; one task writes, others may read what has been written.
package protocol SpoolFile: Sendable {
    /// Writes all bytes at an offset.
    func write(_ bytes: [UInt8], at offset: UInt64) async throws(SpoolError)
    /// Frees the space beyond a length.
    func truncate(to length: UInt64) async throws(SpoolError)
    /// Reads exactly `count` bytes at an offset.
    func read(count: Int, at offset: UInt64) async throws(SpoolError) -> [UInt8]
}

/// Makes temporary files without names in a directory: mode 0600, unlinked right after they are opened.
package struct DiskSpoolFiles: SpoolFiles {
    private let directory: String

    /// Creates files in a directory, which must exist.
    package init(directory: String) { self.directory = directory }

    /// Makes a file without a name.
    package func open() async throws(SpoolError) -> any SpoolFile { try await DiskSpoolFile.open(in: directory) }
}

/// A temporary file without a name, gone when it is closed.
private final class DiskSpoolFile: SpoolFile {
    private let descriptor: CInt

    private init(descriptor: CInt) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Makes a file in `directory`.
    static func open(in directory: String) async throws(SpoolError) -> DiskSpoolFile {
        try await onThreadPool {
            var template = Array("\(directory)/rind-spool-XXXXXX".utf8CString)
            // Creates with mode 0600 and refuses existing links.
            let descriptor = mkstemp(&template)
            guard descriptor >= 0 else { throw SpoolError.file(operation: "open", errno: errno) }
            unlink(template)
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            return DiskSpoolFile(descriptor: descriptor)
        }
    }

    /// Writes all bytes at `offset`.
    func write(_ bytes: [UInt8], at offset: UInt64) async throws(SpoolError) {
        try await Self.onThreadPool { [descriptor] in
            var done = 0
            while done < bytes.count {
                let count = bytes.withUnsafeBytes { buffer in
                    pwrite(
                        descriptor, buffer.baseAddress?.advanced(by: done), buffer.count - done,
                        off_t(offset) + off_t(done))
                }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else {
                    throw errno == ENOSPC ? SpoolError.diskFull : .file(operation: "write", errno: errno)
                }
                done += count
            }
        }
    }

    /// Frees the space beyond a length.
    func truncate(to length: UInt64) async throws(SpoolError) {
        try await Self.onThreadPool { [descriptor] in
            guard ftruncate(descriptor, off_t(length)) == 0 else {
                throw SpoolError.file(operation: "cut", errno: errno)
            }
        }
    }

    /// Reads exactly `count` bytes at `offset`.
    func read(count: Int, at offset: UInt64) async throws(SpoolError) -> [UInt8] {
        try await Self.onThreadPool { [descriptor] in
            var failure: SpoolError?
            let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
                while done < count {
                    let got = pread(
                        descriptor, buffer.baseAddress?.advanced(by: done), count - done, off_t(offset) + off_t(done))
                    if got < 0, errno == EINTR { continue }
                    guard got > 0 else {
                        failure = .file(operation: "read", errno: got == 0 ? EIO : errno)
                        return
                    }
                    done += got
                }
            }
            if let failure { throw failure }
            return bytes
        }
    }

    private static func onThreadPool<R: Sendable>(
        _ body: @escaping @Sendable () throws -> R
    ) async throws(SpoolError) -> R {
        do {
            return try await NIOThreadPool.singleton.runIfActive(body)
        } catch let error as SpoolError {
            throw error
        } catch is CancellationError {
            throw .cancelled
        } catch {
            throw .file(operation: "schedule", errno: ECANCELED)
        }
    }
}

/// The reasons for which bytes could not be spooled or read.
package enum SpoolError: Error, Hashable, Sendable {
    /// The file system of `[spool] dir` is full.
    case diskFull
    /// The answer is larger than `[spool] max`, or than the share of `disk_total` that one principal can ever hold.
    case tooLarge
    /// The limit for all answers together is reached (`[spool] memory_total`, `disk_total`).
    case exhausted
    /// The request was cancelled.
    case cancelled
    /// A system call failed.
    case file(operation: String, errno: CInt)

    /// The stable code for answers, log and metrics.
    package var code: String {
        switch self {
        case .diskFull: "spool.disk_full"
        case .tooLarge: "spool.too_large"
        case .exhausted: "limit.spool"
        case .cancelled: "request.cancelled"
        case .file: "spool.file"
        }
    }
}
