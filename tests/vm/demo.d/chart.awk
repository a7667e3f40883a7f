# SPDX-License-Identifier: Apache-2.0
# A swap as a picture, from -v span=MS and lines
#     out|in MODULE AT MS [NOTE...]      it was unloaded or loaded at AT, which took MS
#     was|is|once MODULE IDENTITY        before the swap, after it; once: what it should be again (may be left out)
# A row for each module, in the order of the lines: both on one axis of time, what they took, the identities.
BEGIN { width = 40 }
$1 ~ /^(was|is|once)$/ { id[$1, $2] = $3; next }
!($2 in seen) { seen[$2]; name[++n] = $2 }
{
	at[$1, $2] = $3
	ms[$1, $2] = $4
	if (NF > 4) notes = notes note()
}

function note(   m) {
	m = $2
	sub(/^[^ ]+ [^ ]+ [^ ]+ [^ ]+ /, "")
	return "  " m ": " $0 "\n"
}

function paint(op, m, glyph,   i, last) {
	if (!((op, m) in at)) return
	i = int(at[op, m] * width / span)
	if (i >= width) i = width - 1
	last = int((at[op, m] + ms[op, m]) * width / span)
	do cell[i++] = glyph; while (i < last && i < width)
}

function bar(m,   i, text) {
	for (i = 0; i < width; i++) cell[i] = " "
	paint("out", m, "▒")
	paint("in", m, "█")
	for (i = 0; i < width; i++) text = text cell[i]
	return text
}

function axis(   words, left) {
	words = " " span " ms without RDMA "
	left = int((width - 2 - length(words)) / 2)
	return "├" dashes(left) words dashes(width - 2 - left - length(words)) "┤"
}

function dashes(n,   text) {
	while (n-- > 0) text = text "─"
	return text
}

function again(m) {
	if (!(("once", m) in id)) return ""
	return id["once", m] == id["is", m] ? " ✓" : " ANOTHER"
}

END {
	printf "  %-10s %s ▒ out  █ in  identity\n", "", axis()
	for (i = 1; i <= n; i++) {
		m = name[i]
		printf "  %-10s %s %5s %5s", m, bar(m), ms["out", m], ms["in", m]
		printf "  %.8s → %.8s%s\n", id["was", m], id["is", m], again(m)
	}
	printf "%s", notes
}
