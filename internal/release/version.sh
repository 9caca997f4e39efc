#!/bin/sh
# version.sh PTXLINK: prints the version of a ptxlink, as tags name it but without "v". It is 0.0.0 for a
# build outside a clone.
"$1" --version | awk '{ print $2 ~ /^v[0-9]/ ? substr($2, 2) : "0.0.0" }'
