import Crypto
import CryptoExtras
import Foundation
import HTTPTypes
import PipelineHTTP
import PipelineTestKit
import Synchronization
import Testing

@Suite("Tokens that are signed here")
struct SignedTokenTests {
    /// A service that keeps the tokens that it was sent, and refuses as many as it is told to.
    private final class Service: Sendable {
        let time = Mutex(Duration.seconds(1_700_000_000))
        let tokens = Mutex<[String]>([])
        let refusals = Mutex(0)

        var network: Network {
            let transport = ScriptedTransport { request, _ in
                let field = request.headers[.authorization] ?? ""
                self.tokens.withLock { $0.append(String(field.dropFirst("Bearer ".count))) }
                let isRefused = self.refusals.withLock { left in
                    defer { left = max(0, left - 1) }
                    return left > 0
                }
                return HTTPExchangeResponse(status: isRefused ? 401 : 200)
            }
            let tokens = AccessTokens(transport: transport, time: { self.time.withLock { $0 } })
            return Network(transport: AuthorizingTransport(transport, tokens: tokens))
        }
    }

    private static func token(_ algorithm: SignedToken.Algorithm, _ key: String) async throws -> [String] {
        let service = Service()
        let token = SignedToken(
            algorithm: algorithm, key: .text(key), keyID: "K1", claims: [.init(name: "iss", json: #""me""#)])
        _ = try await service.network.exchange(
            RequestDescription(url: "http://api.test/"), decorators: [SignedBearer(token)])
        return service.tokens.withLock { $0[0] }.split(separator: ".").map(String.init)
    }

    private static func bytes(_ text: String) throws -> Data {
        var digits = text.replacing("-", with: "+").replacing("_", with: "/")
        while digits.utf8.count % 4 != 0 { digits += "=" }
        return try #require(Data(base64Encoded: digits))
    }

    @Test("has each name of its header once")
    func header() async throws {
        let service = Service()
        let token = SignedToken(
            algorithm: .hs256, key: .text("sesame"), keyID: "K1", header: [.init(name: "kid", json: #""K2""#)])
        _ = try await service.network.exchange(
            RequestDescription(url: "http://api.test/"), decorators: [SignedBearer(token)])
        let head = service.tokens.withLock { $0[0] }.prefix { $0 != "." }
        #expect(
            String(decoding: try Self.bytes(String(head)), as: UTF8.self) == #"{"alg":"HS256","typ":"JWT","kid":"K2"}"#)
    }

    @Test("says what its header and claims say, and the times that were left out")
    func content() async throws {
        let parts = try await Self.token(.hs256, "sesame")
        #expect(
            String(decoding: try Self.bytes(parts[0]), as: UTF8.self) == #"{"alg":"HS256","typ":"JWT","kid":"K1"}"#)
        #expect(
            String(decoding: try Self.bytes(parts[1]), as: UTF8.self)
                == #"{"iss":"me","iat":1700000000,"exp":1700000900}"#)
        let code = try Self.bytes(parts[2])
        let signed = Data("\(parts[0]).\(parts[1])".utf8)
        #expect(
            HMAC<SHA256>.isValidAuthenticationCode(
                code, authenticating: signed, using: SymmetricKey(data: Data("sesame".utf8))))
    }

    @Test("holds for who knows the public key, in each way of signing and each form of PEM")
    func signatures() async throws {
        func parts(_ algorithm: SignedToken.Algorithm, _ key: String) async throws -> (signed: Data, code: Data) {
            let parts = try await Self.token(algorithm, key)
            return (Data("\(parts[0]).\(parts[1])".utf8), try Self.bytes(parts[2]))
        }
        let small = P256.Signing.PrivateKey()
        for pem in [small.pemRepresentation, small.pemRepresentation.replacing("\n", with: #"\n"#)] {
            let (signed, code) = try await parts(.es256, pem)
            #expect(small.publicKey.isValidSignature(try .init(rawRepresentation: code), for: signed))
        }
        let older = try P256.Signing.PublicKey(pemRepresentation: Self.publicKey)
        var (signed, code) = try await parts(.es256, Self.sec1)
        #expect(older.isValidSignature(try .init(rawRepresentation: code), for: signed))
        let large = P384.Signing.PrivateKey()
        (signed, code) = try await parts(.es384, large.pemRepresentation)
        #expect(large.publicKey.isValidSignature(try .init(rawRepresentation: code), for: signed))
        let edwards = Curve25519.Signing.PrivateKey()
        (signed, code) = try await parts(.edDSA, edwards.pemRepresentation)
        #expect(edwards.publicKey.isValidSignature(code, for: signed))
        let rsa = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        for pem in [rsa.pemRepresentation, rsa.pkcs8PEMRepresentation] {
            (signed, code) = try await parts(.rs256, pem)
            #expect(
                rsa.publicKey.isValidSignature(
                    .init(rawRepresentation: code), for: SHA256.hash(data: signed), padding: .insecurePKCS1v1_5))
        }
        (signed, code) = try await parts(.ps256, rsa.pemRepresentation)
        #expect(
            rsa.publicKey.isValidSignature(
                .init(rawRepresentation: code), for: SHA256.hash(data: signed), padding: .PSS))
    }

    @Test(
        "a key that can't sign is told for what it is, and nothing is sent",
        arguments: [
            ("sesame", "is no PEM"), (Self.encrypted, "is encrypted: openssl pkey"),
            (Self.publicKey, "is a public key"), ("{ \"private_key\": \"-----\" }", "parse(secrets.NAME).private_key"),
            ("-----BEGIN OPENSSH PRIVATE KEY-----\nAA\n", "ssh-keygen"),
            ("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----", "is damaged"),
            (
                P384.Signing.PrivateKey().pemRepresentation,
                "is a key of the curve P-384, and ES256 needs one of the curve P-256"
            ),
            (Curve25519.Signing.PrivateKey().pemRepresentation, "is an Ed25519 key, and ES256"),
        ])
    func wrongKeys(key: String, message: String) async throws {
        let service = Service()
        let token = SignedToken(algorithm: .es256, key: .text(key))
        let failure = await #expect(throws: ExchangeFailure.self) {
            try await service.network.exchange(
                RequestDescription(url: "http://api.test/"), decorators: [SignedBearer(token)])
        }
        #expect(failure?.message.contains(message) == true, "\(failure?.message ?? "")")
        #expect(failure?.isRetryable == false)
        #expect(service.tokens.withLock { $0 }.isEmpty)
    }

    @Test("is made once a lifetime, and anew before it ends and after a refusal")
    func lifetime() async throws {
        let service = Service()
        let network = service.network
        let key = P256.Signing.PrivateKey().pemRepresentation
        func send() async throws -> String {
            let token = SignedToken(algorithm: .es256, key: .text(key), lifetime: .seconds(600))
            _ = try await network.exchange(
                RequestDescription(url: "http://api.test/"), decorators: [SignedBearer(token)])
            return service.tokens.withLock { $0.last ?? "" }
        }
        let first = try await send()
        service.time.withLock { $0 += .seconds(500) }
        #expect(try await send() == first)
        service.time.withLock { $0 += .seconds(50) }
        let second = try await send()
        #expect(second != first)
        service.refusals.withLock { $0 = 1 }
        let third = try await send()
        #expect(third != second)
        #expect(service.tokens.withLock { $0 } == [first, first, second, second, third])
    }

    private static let publicKey = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEDvR80+P3pvBIxbCmBVI2JoMPBT5o
        vKTcirOsDWuGc2YHnPRJzg5dgTosltEr5XQ1t1vaq/IL6Mw1ngrM1MC18A==
        -----END PUBLIC KEY-----
        """
    private static let sec1 = """
        -----BEGIN EC PARAMETERS-----
        BggqhkjOPQMBBw==
        -----END EC PARAMETERS-----
        -----BEGIN EC PRIVATE KEY-----
        MHcCAQEEIIZbfoi5KqwPGwWNheT77z25/C8QInqpntAg0Vdz3jjroAoGCCqGSM49
        AwEHoUQDQgAEDvR80+P3pvBIxbCmBVI2JoMPBT5ovKTcirOsDWuGc2YHnPRJzg5d
        gTosltEr5XQ1t1vaq/IL6Mw1ngrM1MC18A==
        -----END EC PRIVATE KEY-----
        """
    private static let encrypted = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAiMgEPy4HWcMQICCAAw
        DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEJHQJoUYIdqac1K8Ku2J1iQEgZAv
        qV/afcA9bLoGzbbIRErLMFo5suKRu+XKbT1pysH85W0ox0fII/V8LTSu2dmtpSYj
        +RcFn7LXsnw8IZYHoor5lQgEuo5VQqQ8uQl7oGVjwDQ6Gc9+C3bciUPVgH3dHgcC
        nbq9GO+xEB64kWcU85nHhqwSOXZrIXqjv3swweyGmVTnkDzFn5jrfVndLUeinwQ=
        -----END ENCRYPTED PRIVATE KEY-----
        """
}
