"""The fast engine: all injections of a campaign as differences from one golden run."""
