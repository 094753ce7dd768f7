# What this extra adds to `import certree.api as ct`, read by `certree.api` when it is imported.
from certree.extras.opinion.check.second_opinion import SecondOpinion as SecondOpinion
from certree.extras.opinion.check.second_opinion import second_opinion as second_opinion
