package import JSONPath

/// Keeps secrets out of the journal when an answer repeats them: where a captured value holds a secret, in any of the
/// spellings that ``Redactor`` finds, that piece is kept as `‹secret:NAME#SEALED›`, sealed under the secret itself.
///
/// Who reads the journal learns the name; who resumes the job has the secret, and gets the value as it was. When the
/// secret has changed since, or nothing seals here, the piece stays closed: no expression may read it then, see
/// ``Scope/closed``. A service can't make such a piece: it would have to seal it.
package struct CaptureSealing: Sendable {
    private let secrets: [(name: String, value: String)]
    private let patterns: SecretPatterns
    private let seal: any SecretSeal

    /// - Parameters:
    ///   - secrets: names and values; a name may stand with an earlier value too. Values of fewer than four bytes stand
    ///     in every other word, and are left where they are.
    ///   - parts: texts that were made of a secret, with its name: they are sealed under the secret, too.
    package init(
        _ secrets: [(name: String, value: String)], parts: [(name: String, value: String)] = [], seal: any SecretSeal
    ) {
        let known = secrets.filter { $0.value.utf8.count >= SecretPatterns.shortest }
        let names = Set(known.map(\.name))
        self.secrets = known
        patterns = SecretPatterns(known + parts.filter { names.contains($0.name) })
        self.seal = seal
    }

    /// The value as it may be kept.
    package func sealed(_ value: JSON) -> JSON {
        guard !patterns.isEmpty else { return value }
        return value.mapped(
            string: { .string(sealed($0, of: .text) ?? $0) },
            number: { number in sealed(number.literal, of: .number).map(JSON.string) ?? .number(number) })
    }

    /// The value as the service gave it.
    package func opened(_ value: JSON) -> JSON {
        guard !patterns.isEmpty, value.holdsSealed else { return value }
        return value.mapped(string: { opened($0) }, number: { .number($0) })
    }

    /// The text with what is secret sealed; nil when nothing is. A number is sealed whole.
    private func sealed(_ text: String, of kind: SealedPiece.Kind) -> String? {
        let finds = RedactionFind.merged(RedactionSearch.finds(of: patterns, in: RedactionView(text)))
        guard let first = finds.first else { return nil }
        let bytes = Array(text.utf8)
        if kind == .number { return piece(bytes, first.name, kind) }
        var result = ""
        var position = 0
        for find in finds {
            result += String(decoding: bytes[position..<find.start], as: UTF8.self)
            result += piece(Array(bytes[find.start..<find.end]), find.name, kind)
            position = find.end
        }
        return result + String(decoding: bytes[position...], as: UTF8.self)
    }

    private func piece(_ bytes: [UInt8], _ name: String, _ kind: SealedPiece.Kind) -> String {
        let secret = secrets.last { $0.name == name }?.value ?? ""
        return SealedPiece(name: name, sealed: seal.seal([kind.rawValue] + bytes, under: secret)).text
    }

    private func opened(_ text: String) -> JSON {
        var result: [UInt8] = []
        for part in SealedPiece.parts(of: text) {
            switch part {
            case .plain(let plain): result += plain.utf8
            case .sealed(let piece):
                guard let content = content(of: piece) else {
                    result += piece.text.utf8
                    continue
                }
                if content.kind == .number, piece.text == text { return .number(JSONNumber(literal: content.text)) }
                result += content.text.utf8
            }
        }
        return .string(String(decoding: result, as: UTF8.self))
    }

    private func content(of piece: SealedPiece) -> (kind: SealedPiece.Kind, text: String)? {
        for secret in secrets where secret.name == piece.name {
            guard let bytes = seal.unseal(piece.sealed, under: secret.value), let first = bytes.first,
                let kind = SealedPiece.Kind(rawValue: first)
            else { continue }
            return (kind, String(decoding: bytes.dropFirst(), as: UTF8.self))
        }
        return nil
    }
}
