"""What `import ragstone` offers: functions and results that print and show themselves. Nothing inside Ragstone uses it."""
