#!/bin/sh
# Builds demo.trivium from the examples and shows what each road is worth.
set -eu
trivium="${BIN:-.venv/bin}/trivium"
library=demo.trivium

say() { printf '\n\033[1m%s\033[0m\n' "$1"; }

rm -rf "$library"
"$trivium" init "$library"
"$trivium" add -L "$library" examples

say 'Meaning: no word of "rulers of the elven wood" is in the note it finds.'
"$trivium" search -L "$library" --explain -n 2 rulers of the elven wood

say 'Words: a proper noun is found by its letters.'
"$trivium" search -L "$library" --explain -n 2 Ysolde Varn

say 'Spelling: "battleaxe" finds the battle axe.'
"$trivium" search -L "$library" --explain -n 2 battleaxe
