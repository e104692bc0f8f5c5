"""Bundle the scripts of the pages with esbuild, and assemble Python for the browser."""
