import ArgumentParser

/// When colours are used.
enum ColorChoice: String, ExpressibleByArgument, CaseIterable { case auto, always, never }
