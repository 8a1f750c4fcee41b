"""Packaged templates for asking a bare model a question; a user's file replaces them."""
