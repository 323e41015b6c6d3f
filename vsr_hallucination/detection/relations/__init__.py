"""The relation check: a sentence that follows an evidence line but turns what it says."""
