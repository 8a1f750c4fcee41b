"""The pages about runs: one file per page. A page function returns page data for a template and for JSON."""
