"""Makes the results that come with the package, above all that makes them."""
