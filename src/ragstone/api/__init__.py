"""The public layer behind `import ragstone`: functions, and results that print and show themselves."""
