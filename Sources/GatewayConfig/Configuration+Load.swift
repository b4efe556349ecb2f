// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
package import INI

extension Configuration {
    /// Reads a configuration and everything that is wrong with it, without touching anything outside.
    ///
    /// - Parameters:
    ///   - text: The file's bytes.
    ///   - file: The file's name, for the diagnostics; paths after `@file:` are relative to its directory.
    ///   - environment: The variables for `${VAR}` and `RIND_SECTION_KEY`.
    ///   - readFile: Reads a file for `@file:`; throws the reason in words.
    /// - Returns: The configuration, nil if there is an error; and all diagnostics, warnings too, sorted by line.
    package static func load(
        text: some Collection<UInt8>, file: String, environment: [String: String],
        readFile: @escaping @Sendable (String) throws(Substitution.FileError) -> [UInt8]
    ) -> (configuration: Configuration?, diagnostics: [Diagnostic]) {
        var problems = Problems()
        let document = Document(bytes: Array(text), name: file, problems: &problems)
        let substitution = Substitution(environment: environment) { path throws(Substitution.FileError) in
            try readFile(resolve(path, relativeTo: file))
        }
        var loader = Loader(document: document, substitution: substitution, problems: problems)
        loader.load(environment: environment)
        if let path = loader.configuration.backend.caFile {
            loader.configuration.backend.caFile = resolve(path, relativeTo: file)
        }
        return (loader.problems.hasErrors ? nil : loader.configuration, loader.problems.diagnostics())
    }

    /// Reads a configuration that names no files, and throws what is wrong with it as one text.
    ///
    /// For tests and tools; warnings are dropped.
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
    package static func load(path: String) -> (configuration: Configuration?, diagnostics: [Diagnostic]) {
        let text: [UInt8]
        do throws(Substitution.FileError) { text = try read(path, limit: SourceFile.maximumBytes + 1) } catch {
            let place = Diagnostic.Place(file: path, line: 1, column: 1)
            return (nil, [Diagnostic(severity: .error, place: place, message: "cannot read the file: \(error.reason)")])
        }
        return load(text: text, file: path, environment: ProcessInfo.processInfo.environment) {
            path throws(Substitution.FileError) in
            try read(path, limit: Substitution.maximumFileBytes + 1)
        }
    }

    /// Reads at most `limit` bytes, so that a device or a wrong path cannot fill the memory.
    private static func read(_ path: String, limit: Int) throws(Substitution.FileError) -> [UInt8] {
        guard let stream = InputStream(fileAtPath: path) else { throw Substitution.FileError("no such file") }
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
                throw Substitution.FileError(
                    FileManager.default.fileExists(atPath: path) ? "not readable" : "no such file")
            }
            if read == 0 { break }
            count += read
        }
        return Array(bytes.prefix(count))
    }

    /// A relative path seen from a file's directory.
    static func resolve(_ path: String, relativeTo file: String) -> String {
        guard !path.hasPrefix("/"), let slash = file.lastIndex(of: "/") else { return path }
        return file[...slash] + path
    }
}

/// A configuration cannot be used.
package struct ConfigurationError: Error, Hashable, CustomStringConvertible {
    /// All diagnostics as people read them.
    package let description: String
}
