import JSONPath
import PipelineCore
import PipelineHTTP

extension DecoratorKind {
    /// `"sigv4": { "region": …, "service": …, "accessKey": …, "secretKey": …, "sessionToken": … }`
    static let sigv4 = DecoratorKind("sigv4", "Signs with AWS Signature Version 4.") { roots in
        let type = FieldType<Template>.template(roots)
        let region = Field("region", type, required: true, "The region, such as us-east-1.")
        let service = Field("service", type, required: true, "The service, such as s3.")
        let accessKey = Field("accessKey", type, required: true, "The access key's ID.")
        let secretKey = Field("secretKey", type, required: true, "The secret access key.")
        let token = Field("sessionToken", type, "The token of temporary credentials.")
        return .object([region, service, accessKey, secretKey, token]) { reader in
            let region = reader.required(region)
            let service = reader.required(service)
            let accessKey = reader.required(accessKey)
            let secretKey = reader.required(secretKey)
            let token = reader.optional(token)
            guard let region, let service, let accessKey, let secretKey else { return nil }
            return DecoratorTemplate(isCredential: true) { context throws(EvaluationFailure) in
                let token = try token?.evaluate(in: context.scope)
                return AWSSignature(
                    region: try region.evaluateText(in: context.scope),
                    service: try service.evaluateText(in: context.scope),
                    accessKey: try accessKey.evaluateText(in: context.scope),
                    secretKey: try secretKey.evaluateText(in: context.scope),
                    sessionToken: token?.string)
            }
        }
    }
}
