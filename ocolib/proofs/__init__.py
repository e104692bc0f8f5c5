"""A proof as a chain of numbers: each line's value on the trace just played, its reason and its slack.

The first line is what the theorem bounds, the last its promise (in `late` before its sums are bounded); a
slack is how much a line gives away, and the slacks add up to last − first. A right proof has no negative
slack in a game that its theorem allows.

`proofs.X(trace, …)` is the proof of `bounds.X`, where there is one. It reads set, step and regulariser from
`trace.learner` and refuses a trace of another learner. Whether the losses, u and the numbers given are as the
theorem asks it checks only in part: else a negative slack shows it, or nothing does.

The rooms: `chain` (how a proof is shown), `leaders` (Lectures 13 and 17), `gradients` (Lectures 4 and 13,
Regret bounds), `late` (Lecture 4), `mistakes` (Lectures 9 and 13).
"""

from ocolib.proofs.chain import Chain, Line, plays, subscripts
from ocolib.proofs.gradients import (
    descent,
    descent_sharp,
    strongly_convex,
    strongly_convex_slacks,
    zinkevich,
    zinkevich_sharp,
)
from ocolib.proofs.late import delayed, delayed_constant, delayed_strongly_convex
from ocolib.proofs.leaders import ftrl, ftrl_sharp, ftrl_stability, ftrl_stability_slacks, hedge
from ocolib.proofs.mistakes import (
    normalized_winnow,
    perceptron,
    perceptron_direct,
    perceptron_growth,
    perceptron_length,
    winnow,
)
