// Declarations that differ from platform to platform stay behind a condition where they are called. `CLibrary.write`
// tells a function from a method of the same name.
#if canImport(Glibc)
    @_exported public import Glibc
#elseif canImport(Musl)
    @_exported public import Musl
#else
    @_exported public import Darwin
#endif
