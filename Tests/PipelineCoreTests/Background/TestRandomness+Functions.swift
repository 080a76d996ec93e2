#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

func logarithm(_ value: Double) -> Double { log(value) }
func exponential(_ value: Double) -> Double { exp(value) }
func cosine(_ value: Double) -> Double { cos(value) }
