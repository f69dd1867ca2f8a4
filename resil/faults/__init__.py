"""All faults of a campaign, divided and numbered, and which of them are injected next."""
