"""Changes and judgments, and what happens around them."""
