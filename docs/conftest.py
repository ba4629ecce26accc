"""The examples in the pages are tests; the build's own scripts are not."""

collect_ignore = ["conf.py", "extensions", "figures"]
