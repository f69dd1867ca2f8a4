"""One module a command; each puts the rooms before it together."""
