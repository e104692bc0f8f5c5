"""The laboratory beside `ocolib`: what is built on games and needed by none of them.

`fast` plays long games sooner, and in pieces those that do not fit the memory. `comparators` finds the best
point in hindsight with a certificate. `limits` has worst cases and what nobody can beat, `exact` solves games
in fractions, `certificates` checks worst cases between fractions with nothing but the standard library, and
`certify` finds them. `bandits` and `solve_bandits` do the same for tiny bandit games, `exact_betting` has
options and ratios of wealth, `last_iterate` the worst case of the last point of descent. `sweep` plays many
games as one table; `keys` tells whether a kept row still holds. `tables` sets a few rows as a table.
"""
