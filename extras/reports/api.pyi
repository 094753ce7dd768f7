# What this extra adds to `import certree.api as ct`, read by `certree.api` when it is imported.
from certree.extras.reports.explorer.cell import Explorer as Explorer
from certree.extras.reports.explorer.cell import explore as explore
from certree.extras.reports.make.drawing import draw as draw
from certree.extras.reports.pages.report import report as report
