"""Windows, batching, detector backends, the explainer, the fact-check classifier."""
