// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// A suspected mistake of the mapping, seen in lines of the stream.
struct SampleRemark {
    /// The probability of a mistake.
    enum Certainty {
        /// The mapping does not fit what came.
        case certain
        /// The mapping hardly fits; other lines might show that it does.
        case likely
        /// The mapping may be meant so.
        case possible
        /// The remark is natural for the beginning of a stream; only a whole sample shows anything by it.
        case inWholeSamples
    }

    var certainty: Certainty
    /// The table and column, or the type, and what is odd about it.
    var text: String
    /// The place of the configuration that it is about.
    var hint: String?

    init(_ certainty: Certainty, _ text: String, hint: String? = nil) {
        self.certainty = certainty
        self.text = text
        self.hint = hint
    }

    /// True if it is a fault; what may be meant so, or comes with a piece of a stream, is none.
    var isFault: Bool { certainty == .certain || certainty == .likely }

    /// Returns the remark as a finding about a call; nil if only a whole sample shows anything.
    func finding(at address: String) -> CheckFinding? {
        let verdict: CheckFinding.Verdict
        switch certainty {
        case .certain: verdict = .wrong
        case .likely: verdict = .unsure
        case .possible: verdict = .note
        case .inWholeSamples: return nil
        }
        return CheckFinding(verdict, "\(address): \(text)", hint: hint)
    }
}
