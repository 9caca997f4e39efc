"""powershell.py FILE: prints the places of a PowerShell script that its grammar does not accept."""
import sys

import tree_sitter
import tree_sitter_powershell

if sys.argv[1] == "--version":
    sys.exit(print("tree-sitter-powershell"))

text = open(sys.argv[1], "rb").read()
tree = tree_sitter.Parser(tree_sitter.Language(tree_sitter_powershell.language())).parse(text)


def walk(node):
    if node.type == "ERROR" or node.is_missing:
        row, column = node.start_point
        print(f"{sys.argv[1]}:{row + 1}:{column + 1}: {text[node.start_byte:node.end_byte][:60]!r}")
        return 1
    return sum(walk(child) for child in node.children if child.has_error or child.is_missing)


sys.exit(walk(tree.root_node) > 0)
