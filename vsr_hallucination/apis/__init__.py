"""Client APIs: one module each, from bytes to prompt, grounding and answers, and back."""
