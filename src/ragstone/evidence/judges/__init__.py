"""The tools of `evidence.tools` by way of a language model. Imported when a model is named, not before."""
