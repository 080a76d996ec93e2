// Whoever knows Core's values writes them too; one import gives both.
@_exported public import Encodings
