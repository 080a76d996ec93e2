import ArgumentParser

/// The choice of when colours are used.
enum ColorChoice: String, ExpressibleByArgument, CaseIterable { case auto, always, never }
