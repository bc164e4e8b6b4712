"""Commands about a whole fleet: requests to the pipeline, and the documents of its results."""
