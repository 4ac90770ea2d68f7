#!/bin/sh
# Fills fuzz/corpus/ with what the repository has: graph files, expressions in them, journals, cases.
set -eu
cd "$(dirname "$0")/.."
corpus=fuzz/corpus
for target in graph_file expression journal journal_rows case_file; do mkdir -p "$corpus/$target"; done
# The name of a seed is its path.
seed() { cp "$2" "$corpus/$1/$(echo "$2" | tr / _)"; }
for file in graphs/*/graph.yaml; do seed graph_file "$file"; done
for file in tests/conformance/*/*.yaml graphs/*/cases/*.yaml; do
    seed case_file "$file"
    # The graph of a case stands under `graph:`, two spaces in.
    name="$corpus/graph_file/$(echo "$file" | tr / _)"
    sed -n '/^graph:$/,/^[a-z]/p' "$file" | sed -n 's/^  //p' > "$name"
    [ -s "$name" ] || rm "$name"
done
for file in tests/journals/*.jsonl; do [ -e "$file" ] && seed journal "$file"; done
# Expressions and templates between quotes, each in every place that the target knows.
n=0
cat graphs/*/graph.yaml tests/conformance/*/*.yaml | grep -o '"[^"]*{[{%][^"]*"\|if: [^,}]*' \
    | sed 's/^if: //; s/^"//; s/"$//' | sort -u | head -400 | while IFS= read -r text; do
    n=$((n + 1))
    printf '%b%s' "\\0$((n % 5))" "$text" > "$corpus/expression/seed_$n"
done
for n in 0 1 2 3 4 5 6 7; do printf '%bABCD' "\\0$n" > "$corpus/journal_rows/seed_$n"; done
for target in graph_file expression journal journal_rows case_file; do
    echo "$target: $(find "$corpus/$target" -type f | wc -l) seeds"
done
