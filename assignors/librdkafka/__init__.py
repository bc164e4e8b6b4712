"""As a librdkafka leader computes them."""
