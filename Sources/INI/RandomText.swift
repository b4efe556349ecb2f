// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Finds text that looks random: a key or a token, wherever it is.
enum RandomText {
    /// The length of the shortest run that counts as random; `[identity] key` has at least this many bytes.
    private static let leastLength = 32

    /// Replaces each character of such runs by a star, so that columns stay correct.
    static func masked(_ text: String) -> String {
        var result: [Unicode.Scalar] = []
        var run: [Unicode.Scalar] = []
        func close() {
            result += isRandom(run) ? run.map { _ in "*" } : run
            run = []
        }
        for scalar in text.unicodeScalars {
            if isPart(scalar) {
                run.append(scalar)
            } else {
                close()
                result.append(scalar)
            }
        }
        close()
        return String(String.UnicodeScalarView(result))
    }

    /// Returns true for letters and digits, and for the other characters of both kinds of Base64; dots separate the
    /// parts of file and host names.
    private static func isPart(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII && (isLetter(scalar) || isDigit(scalar) || "+/=_-".unicodeScalars.contains(scalar))
    }

    private static func isRandom(_ run: [Unicode.Scalar]) -> Bool {
        guard run.count >= leastLength else { return false }
        let words = run.split { !isLetter($0) && !isDigit($0) }
        return !words.allSatisfy { word in
            word.count <= 4 || word.allSatisfy(isLetter) || word.count <= 10 && word.allSatisfy(isDigit)
        }
    }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool { (0x61...0x7A).contains(scalar.value | 0x20) }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { (0x30...0x39).contains(scalar.value) }
}
