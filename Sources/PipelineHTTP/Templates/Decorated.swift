/// A template with one more decorator around it.
public struct Decorated<Base: RequestTemplate>: TemplateDecorator {
    public typealias Output = Base.Output

    public let base: Base
    public let decorator: any RequestDecorator

    public init(_ base: Base, by decorator: any RequestDecorator) {
        self.base = base
        self.decorator = decorator
    }

    public var decorators: [any RequestDecorator] { base.decorators + [decorator] }
}
