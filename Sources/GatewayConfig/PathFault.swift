// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A reason why this process cannot use a file or a directory; `user` says in words who may not.
package enum PathFault: Hashable, Sendable {
    /// There is nothing at the path.
    case missing
    /// The process's user may not enter this directory above the path, so that nobody can tell what is there.
    case closed(directory: String, user: String)
    /// The file is there, and its rights do not let the process's user use it.
    case refused(user: String)
    /// The reason is another, such as a path to a directory instead of a file.
    case other

    /// Finds the reason after the path could not be used in this way, such as `R_OK`.
    package init(_ path: String, for rights: CInt) {
        guard faccessat(AT_FDCWD, path, rights, AT_EACCESS) != 0 else {
            self = .other
            return
        }
        switch errno {
        case ENOENT, ENOTDIR: self = .missing
        case EACCES, EPERM:
            let user = Self.user()
            self = Self.closedDirectory(above: path).map { .closed(directory: $0, user: user) } ?? .refused(user: user)
        default: self = .other
        }
    }

    /// The reason why a file cannot be read, to follow a colon.
    package var whyUnreadable: String {
        switch self {
        case .missing: "no such file"
        case .closed: "permission denied: \(explanation ?? "")"
        case .refused(let user): "permission denied: \(user) may not read it"
        case .other: "not readable"
        }
    }

    /// The directory that may not be entered, and by whom; nil if it is no such fault.
    package var explanation: String? {
        guard case .closed(let directory, let user) = self else { return nil }
        return "\(user) may not enter \(directory)"
    }

    /// The number of links in a row that are followed.
    private static let mostLinks = 8

    /// Returns the outermost directory above a path that may not be entered; nil if all may.
    private static func closedDirectory(above path: String) -> String? {
        var directory = ""
        // A relative path begins where the process is, and a link may lead to elsewhere, even to where nobody can look.
        var whole = URL(fileURLWithPath: path)
        for _ in 0..<Self.mostLinks {
            guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: whole.path) else { break }
            whole = URL(fileURLWithPath: target, relativeTo: whole.deletingLastPathComponent()).absoluteURL
        }
        for part in whole.path.split(separator: "/").dropLast() {
            directory += "/\(part)"
            if faccessat(AT_FDCWD, directory, X_OK, AT_EACCESS) != 0, errno == EACCES { return directory }
        }
        return nil
    }

    /// Returns the name and the number of the process's effective user in words.
    private static func user() -> String {
        let number = geteuid()
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var text = [CChar](repeating: 0, count: 4_096)
        guard getpwuid_r(number, &entry, &text, text.count, &found) == 0, found != nil, let name = entry.pw_name else {
            return "the user with uid \(number)"
        }
        return "the user '\(String(cString: name))' (uid \(number))"
    }
}
