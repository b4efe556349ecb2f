// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// What a machine knows stands in its states: it has few properties beside them (decision 4).
enum MachineRule {
    static let maximumProperties = 8

    static func violations(in file: SourceFile) -> [Violation] {
        guard file.target == "SyncMachines" else { return [] }
        return TypeDeclaration.all(in: file.swift).filter(isMachine)
            .filter { $0.storedProperties > maximumProperties }
            .map { type in
                let message =
                    "'\(type.name)' has \(type.storedProperties) stored properties, more than "
                    + "\(maximumProperties): which of them belong to a state?"
                return Violation(file: file, line: type.line, message: message)
            }
    }

    /// Whether a type decides, rather than holds values.
    static func isMachine(_ type: TypeDeclaration) -> Bool {
        type.kind == "struct" && type.name.hasSuffix("Machine")
    }
}
