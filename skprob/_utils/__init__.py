"""What every package of skprob may use: arrays, names, checks, types, saving."""
