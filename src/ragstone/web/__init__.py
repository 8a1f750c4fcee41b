"""The viewer: a local web app over stored runs. Views return page data, templates draw it, every page has a JSON twin."""
