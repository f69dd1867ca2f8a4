"""Statistical mode: sensitivity learnt from campaigns, applied to networks that were never simulated."""
