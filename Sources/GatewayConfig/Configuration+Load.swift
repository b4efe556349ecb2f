// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
package import INI

extension Configuration {
    /// Reads a configuration and finds all its faults, without any access to the outside except `readFile` and
    /// `isOpen`.
    ///
    /// - Parameters:
    ///   - text: The file's bytes.
    ///   - file: The file's name, for the diagnostics; relative paths are relative to its directory.
    ///   - environment: The variables for `${VAR}` and `RIND_SECTION_KEY`.
    ///   - isOpen: Returns true if every user of the machine may read a file.
    ///   - readFile: Reads a file for `@file:`; throws the reason in words.
    /// - Returns: The configuration, nil if there is an error; and all diagnostics, warnings too, sorted by line.
    package static func load(
        text: some Collection<UInt8>, file: String, environment: [String: String],
        isOpen: @escaping @Sendable (String) -> Bool = { _ in false },
        readFile: @escaping @Sendable (String) throws(Substitution.FileError) -> [UInt8]
    ) -> (configuration: Configuration?, diagnostics: [Diagnostic]) {
        let loader = loader(text, file: file, environment: environment, isOpen: isOpen, readFile: readFile)
        return (loader.problems.hasErrors ? nil : loader.configuration, loader.problems.diagnostics())
    }

    private static func loader(
        _ text: some Collection<UInt8>, file: String, environment: [String: String],
        isOpen: @escaping @Sendable (String) -> Bool,
        readFile: @escaping @Sendable (String) throws(Substitution.FileError) -> [UInt8]
    ) -> Loader {
        var problems = Problems()
        let document = Document(bytes: Array(text), name: file, problems: &problems)
        let substitution = Substitution(
            environment: environment, isOpen: { isOpen(resolve($0, relativeTo: file)) },
            readFile: { path throws(Substitution.FileError) in try readFile(resolve(path, relativeTo: file)) })
        var loader = Loader(document: document, substitution: substitution, problems: problems)
        loader.load(environment: environment)
        for key in [
            \Configuration.backend.caFile, \.backend.clientCertificate, \.backend.clientKey, \.identity.jwtCAFile,
            \.gateway.tlsCertificate, \.gateway.tlsKey, \.spool.dir,
        ] {
            if let path = loader.configuration[keyPath: key] {
                loader.configuration[keyPath: key] = resolve(path, relativeTo: file)
            }
        }
        loader.configuration.state.url = loader.configuration.state.url.seen(from: file)
        if case .file(let path) = loader.configuration.identity.jwtKeys {
            loader.configuration.identity.jwtKeys = .file(path: resolve(path, relativeTo: file))
        }
        return loader
    }

    /// Reads a configuration that names no files, and throws its faults as one text.
    ///
    /// This is for tests and tools; warnings are dropped.
    package static func load(
        _ text: String, file: String = "rind.ini", environment: [String: String] = [:]
    ) throws(ConfigurationError) -> Configuration {
        let (configuration, diagnostics) = load(text: Array(text.utf8), file: file, environment: environment) {
            _ throws(Substitution.FileError) in
            throw Substitution.FileError("files are not read here")
        }
        guard let configuration else {
            throw ConfigurationError(description: diagnostics.map(\.rendered).joined(separator: "\n"))
        }
        return configuration
    }

    /// Reads the configuration at `path` with the environment of the process.
    ///
    /// A file that cannot be read is a diagnostic like any other.
    ///
    /// - Returns: The configuration, nil if there is an error; all diagnostics; the settings for the log, as far as they
    ///   could be read, so that mistakes can be logged; and the file's bytes.
    package static func load(
        path: String
    ) -> (configuration: Configuration?, diagnostics: [Diagnostic], log: Log, text: [UInt8]) {
        let environment = ProcessInfo.processInfo.environment
        var text: [UInt8] = []
        var unreadable: Diagnostic?
        do throws(Substitution.FileError) { text = try read(path, limit: SourceFile.maximumBytes + 1) } catch {
            let position = Diagnostic.Position(file: path, line: 1, column: 1)
            unreadable = Diagnostic(
                severity: .error, position: position, message: "cannot read the file: \(error.reason)")
        }
        let loader = loader(text, file: path, environment: environment, isOpen: isReadableByAll) {
            path throws(Substitution.FileError) in
            try read(path, limit: Substitution.maximumFileBytes + 1)
        }
        let log = loader.configuration.log
        if let unreadable { return (nil, [unreadable], log, text) }
        let configuration = loader.problems.hasErrors ? nil : loader.configuration
        return (configuration, loader.problems.diagnostics(), log, text)
    }

    /// Checks the file itself: a link, as Kubernetes uses for secrets, is readable by all users.
    @Sendable private static func isReadableByAll(_ path: String) -> Bool {
        let file = URL(filePath: path).resolvingSymlinksInPath().path(percentEncoded: false)
        let attributes = try? FileManager.default.attributesOfItem(atPath: file)
        return (attributes?[.posixPermissions] as? NSNumber).map { $0.intValue & 0o004 != 0 } ?? false
    }

    /// Reads at most `limit` bytes, so that a device or a wrong path cannot fill the memory.
    private static func read(_ path: String, limit: Int) throws(Substitution.FileError) -> [UInt8] {
        guard let stream = InputStream(fileAtPath: path) else {
            throw Substitution.FileError(PathFault(path, for: R_OK).whyUnreadable)
        }
        stream.open()
        defer { stream.close() }
        var bytes = [UInt8](repeating: 0, count: limit)
        var count = 0
        while count < limit {
            let read = bytes.withUnsafeMutableBufferPointer { buffer -> Int in
                guard let start = buffer.baseAddress else { return 0 }
                return stream.read(start + count, maxLength: limit - count)
            }
            guard read >= 0 else {
                throw Substitution.FileError(PathFault(path, for: R_OK).whyUnreadable)
            }
            if read == 0 { break }
            count += read
        }
        return Array(bytes.prefix(count))
    }

    /// Returns a relative path seen from a file's directory.
    static func resolve(_ path: String, relativeTo file: String) -> String {
        guard !path.hasPrefix("/"), let slash = file.lastIndex(of: "/") else { return path }
        return file[...slash] + path
    }
}

/// An error of a configuration that cannot be used.
package struct ConfigurationError: Error, Hashable, CustomStringConvertible {
    /// All diagnostics, rendered for reading.
    package let description: String
}
