# SPDX-License-Identifier: Apache-2.0
# what a node downloads, apart from the tree

row size "$(quotient "$(stat -c %s "$driver")" 1048576)" MiB 2 "ofed-driver, static and stripped"
