"""Reports as self-contained HTML files: pages from templates, charts as SVG."""
