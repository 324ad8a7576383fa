"""Place more rows than fit in memory on a finished map, in any engine or from folders of files."""
