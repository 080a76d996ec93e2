/// A template with one more decorator around it.
public struct Decorated<Base: RequestTemplate>: TemplateDecorator {
    public typealias Output = Base.Output

    /// The template that is decorated.
    public let base: Base
    /// The decorator that is added.
    public let decorator: any RequestDecorator

    /// Decorates a template; its own decorators stand further in.
    public init(_ base: Base, by decorator: any RequestDecorator) {
        self.base = base
        self.decorator = decorator
    }

    public var decorators: [any RequestDecorator] { base.decorators + [decorator] }
}
