// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import StateStore

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The place of a SQLite state in the file system: its real path, its mode, and the lock beside it.
///
/// Nothing here may open the database file itself once SQLite has it: closing any descriptor of a file drops all
/// POSIX locks that the process holds on it (https://www.sqlite.org/howtocorrupt.html, 2.2). So the lock is a file
/// of its own and modes are set by path.
struct StateFile: Sendable, Hashable {
    /// The identity of the file at a path; it changes if a file is restored while the gateway runs.
    struct Identity: Sendable, Hashable {
        var device: UInt64
        var inode: UInt64

        fileprivate init(_ status: stat) {
            device = UInt64(truncatingIfNeeded: status.st_dev)
            inode = UInt64(status.st_ino)
        }
    }

    /// The path: absolute, without symbolic links, so that two names of one file have one lock.
    let path: String

    /// Resolves a path whose directory exists; the file need not exist.
    init(resolving path: String) throws(StateError) {
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw .open(path: path, reason: "the path is empty or has a NUL in it")
        }
        var status = stat()
        let isThere = lstat(path, &status) == 0
        // Whether there is a file in a directory that may not be entered, nobody can tell.
        if !isThere, errno == EACCES { throw .open(path: path, reason: Self.reason(EACCES)) }
        if isThere {
            guard let real = Self.realPath(path) else { throw .open(path: path, reason: Self.reason(errno)) }
            guard stat(real, &status) == 0 else { throw .open(path: path, reason: Self.reason(errno)) }
            guard status.st_mode & S_IFMT == S_IFREG else {
                throw .open(path: path, reason: "it is not a regular file")
            }
            self.path = real
            return
        }
        let (directory, name) = Self.parts(of: path)
        guard !name.isEmpty else { throw .open(path: path, reason: "it is a directory") }
        guard let real = Self.realPath(directory) else {
            let code = errno
            throw .open(path: path, reason: "its directory '\(directory)': \(Self.reason(code))")
        }
        guard stat(real, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw .open(path: path, reason: Self.reason(ENOTDIR))
        }
        self.path = real == "/" ? "/\(name)" : "\(real)/\(name)"
    }

    /// Refuses a file that has several names: each would have a lock and a log of its own
    /// (https://www.sqlite.org/howtocorrupt.html, 2.5).
    func checkNames() throws(StateError) {
        guard let names = Self.status(of: path)?.st_nlink, names > 1 else { return }
        throw .open(path: path, reason: "it has \(names) names (hard links), and may be in use under another one")
    }

    /// Creates the file, empty and readable by its owner only, if it does not exist.
    func create() throws(StateError) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            if errno == EEXIST { return }
            throw Self.error(errno, path: path)
        }
        _ = close(descriptor)
        // The name must be as durable as the data that SQLite will write under it.
        let directory = open(Self.parts(of: path).directory, O_RDONLY | O_CLOEXEC)
        guard directory >= 0 else { return }
        _ = fsync(directory)
        _ = close(directory)
    }

    /// Removes all rights of group and others, also from the files that SQLite keeps beside the file.
    ///
    /// Those get the mode of the file itself: one that was created while the file was read-only would stay read-only.
    func restrict() throws(StateError) {
        guard let mode = Self.status(of: path).map({ $0.st_mode & 0o600 }) else { return }
        for name in [path, logPath, indexPath] {
            guard let status = Self.status(of: name), status.st_mode & 0o777 != mode else { continue }
            guard chmod(name, mode) == 0 else { throw Self.error(errno, path: name) }
        }
    }

    var size: Int? { Self.status(of: path).map { Int($0.st_size) } }

    /// The path of SQLite's write-ahead log.
    var logPath: String { path + "-wal" }
    /// The path of the log's index.
    var indexPath: String { path + "-shm" }
    /// True if there is a log without anything in it.
    var isLogEmpty: Bool { Self.status(of: logPath)?.st_size == 0 }

    /// The identity of the file that is at the path now; nil if there is none.
    var identity: Identity? { Self.identity(of: path) }

    /// Returns the identity of the file that is at a path now; nil if there is none.
    static func identity(of path: String) -> Identity? { status(of: path).map(Identity.init) }

    /// Returns true if the file with this identity is still at its path, or if the system cannot tell: then SQLite
    /// finds out.
    static func isStill(_ identity: Identity, at path: String) -> Bool {
        guard let status = status(of: path) else { return errno != ENOENT && errno != ENOTDIR }
        return Identity(status) == identity
    }

    /// Fails if the file system has no room for a small file, or does not accept writes.
    ///
    /// It writes a file without a name: only the system knows how much room quotas, reserves and other users leave.
    func checkRoom() throws(StateError) {
        var template = Array("\(path)-probe-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        // A directory may refuse new files on purpose: SQLite's own files exist already.
        guard descriptor >= 0 else { return try Self.checkRoom(after: errno) }
        defer { _ = close(descriptor) }
        unlink(template)
        let bytes = [UInt8](repeating: 0, count: Self.smallFile)
        var count = pwrite(descriptor, bytes, bytes.count, 0)
        while count < 0, errno == EINTR { count = pwrite(descriptor, bytes, bytes.count, 0) }
        guard count >= 0 else { return try Self.checkRoom(after: errno) }
        // A file that fits only in part does not fit.
        if count < bytes.count { throw .full }
    }

    private static func checkRoom(after code: CInt) throws(StateError) {
        switch code {
        case ENOSPC, EDQUOT: throw .full
        case EROFS: throw .readOnly("its file system is mounted to be read only")
        default: return
        }
    }

    /// Takes the lock beside the file; the lock ends with the process at the latest.
    ///
    /// The lock file is never removed: a process that has it open would then lock a file without a name.
    ///
    /// - Returns: The descriptor to close when the state is released.
    func lock() throws(StateError) -> CInt {
        let descriptor = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Self.error(errno, path: path + ".lock") }
        // As SQLite does with its files: what root makes must not keep the file's owner from opening it.
        if geteuid() == 0, let status = Self.status(of: path) { _ = fchown(descriptor, status.st_uid, status.st_gid) }
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let code = errno
            if code == EINTR { continue }
            let holder = Self.holder(descriptor)
            _ = close(descriptor)
            if code == EWOULDBLOCK { throw .inUse(path: path, holder: holder) }
            throw Self.error(code, path: path + ".lock")
        }
        // For the error message of a process that finds the lock taken; nothing depends on it.
        let text = Array("\(getpid())\n".utf8)
        _ = ftruncate(descriptor, 0)
        _ = pwrite(descriptor, text, text.count, 0)
        return descriptor
    }

    /// Returns true if the file system of a path has room for the smallest of SQLite's files, or if its room is
    /// unknown.
    static func hasRoom(beside path: String) -> Bool {
        var status = statvfs()
        guard statvfs(parts(of: path).directory, &status) == 0 else { return true }
        return UInt64(status.f_bavail) * UInt64(status.f_frsize) >= smallFile
    }

    private static let smallFile = 64 * 1_024

    /// Releases a lock taken by ``lock()``.
    ///
    /// Unlocks explicitly before closing: a child process that is just being started holds a copy of the descriptor
    /// until it runs its own program (flock(2)).
    static func unlock(_ descriptor: CInt) {
        _ = flock(descriptor, LOCK_UN)
        _ = close(descriptor)
    }

    private static func parts(of path: String) -> (directory: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return (".", path) }
        return (slash == path.startIndex ? "/" : String(path[..<slash]), String(path[path.index(after: slash)...]))
    }

    private static func status(of path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }

    private static func holder(_ descriptor: CInt) -> String? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        let digits = bytes.prefix(max(count, 0)).prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return digits.isEmpty ? nil : String(decoding: digits, as: UTF8.self)
    }

    private static func realPath(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }

    private static func error(_ code: CInt, path: String) -> StateError {
        switch code {
        case ENOSPC, EDQUOT: .full
        default: .open(path: path, reason: reason(code))
        }
    }

    private static func reason(_ code: CInt) -> String {
        switch code {
        case ENOENT: "no such file or directory"
        case EACCES, EPERM: "permission denied"
        case EROFS: "the file system is read-only"
        case ENOTDIR: "a part of the path is not a directory"
        case ELOOP: "too many symbolic links"
        default: "system error \(code)"
        }
    }
}
