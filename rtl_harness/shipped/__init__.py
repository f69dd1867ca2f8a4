"""Results of slow tools that come with the package, each bound to all that went into it."""
