"""What certree does, as functions: `import certree.api as ct`. Each command of the command line calls them.

- `inputs`: what users may give, from names and files to the data model; `runnable`: from a schedule to what is run
- `evidence`: certificates; `comparison`, `costing`: methods compared by cycles and by cost; `endpoint_runs`
- `reports`: results as JSON documents and in words; `pictures`: plots; `papers`: figures and tables of the papers
"""
