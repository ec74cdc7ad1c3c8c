"""Commands that maintain this repository, one per module: golden files, the schema and recorded releases."""
