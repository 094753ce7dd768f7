# What this extra adds to `import certree.api as ct`, read by `certree.api` when it is imported.
from certree.extras.papers.gallery import gallery as gallery
from certree.extras.papers.reproduction import reproduce as reproduce
