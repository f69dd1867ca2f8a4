"""The gates of a design as the fast engine walks them."""
