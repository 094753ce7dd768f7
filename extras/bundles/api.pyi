# What this extra adds to `import certree.api as ct`, read by `certree.api` when it is imported.
from certree.extras.bundles.check.checking import BundleVerdict as BundleVerdict
from certree.extras.bundles.evidence import ItemResult as ItemResult
from certree.extras.bundles.make.making import bundle as bundle
from certree.extras.bundles.model.bundle import Bundle as Bundle
from certree.extras.bundles.reading import read_bundle as read_bundle
