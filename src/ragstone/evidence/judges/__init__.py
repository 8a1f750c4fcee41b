"""The tools of `evidence.tools`: by way of a language model, by the local judge, or by both. Imported when they are used, not before."""
