"""Reports as one HTML file that needs nothing else: pages from templates, plots as SVG of our own making."""
