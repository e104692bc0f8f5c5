"""Provide tools for experiments with `ocolib`: fast games, exact worst cases, certificates, sweeps.

`fast` plays long games with compiled loops, and streams games that do not fit into memory. `comparators`
finds the best point in hindsight with a certified gap. `limits` has minimax values and exact worst cases, and
`exact` solves games in exact fractions. `certificates` verifies worst cases with the standard library only,
and `certify` finds these certificates. `bandits` and `solve_bandits` do the same for small bandit games,
`exact_betting` for options and ratios of wealth, `last_iterate` for the last iterate of descent. `sweep`
plays grids of games, `keys` decides whether a stored row is still valid, and `tables` shows a few rows as a
table.
"""
