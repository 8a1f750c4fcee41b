"""Local disk or S3, through pyarrow's file systems: places, atomic writes, the layout of a run."""
