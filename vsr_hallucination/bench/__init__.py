"""What the filter costs: every figure against an alternative measured in the same run, in turns. Loopback only."""
