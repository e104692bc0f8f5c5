"""The laboratory beside `ocolib`: what is built on games and needed by none.

`sweep` plays many games as one table, on as many machines as you have; `streams` plays one that is too long
for the memory. `certificates` checks worst cases as inequalities between fractions, with nothing but the
standard library, and `exact` solves games in fractions.
"""
