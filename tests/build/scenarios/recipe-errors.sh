# a mistake in a recipe is named with line and column, and nothing is changed
small_source
recipe=$work_dir/recipe.conf
volumes+=(-v "$work_dir:/work:ro")
# mistake LINE:COLUMN TEXT-OF-THE-MESSAGE: of the recipe on stdin
mistake() {
	cat >"$recipe"
	fails 100 RECIPE_INVALID --recipe /work/recipe.conf
	assert_has "$OBJECT" "recipe.conf:$1" "where"
	assert_has "$DETAIL" "$2" "what"
	assert_eq "$(stored)" "" "the store"
}
mistake 4:6 '' <<'END'
name: small
version: "1.0"
modules: [gdr_small
build:
  kbuild: [.]
END
mistake 5:25 '%{kernle}' <<'END'
name: small
version: "1.0"
modules: [gdr_small]
build:
  commands: [[./build, "%{kernle}"]]
END
mistake 5:12 '../../etc' <<'END'
name: small
version: "1.0"
modules: [gdr_small]
build:
  kbuild: [../../etc]
END
mistake 4:11 '/etc' <<'END'
name: small
version: "1.0"
modules: [gdr_small]
include: [/etc]
build:
  kbuild: [.]
END
mistake 6:3 'flgas' <<'END'
name: small
version: "1.0"
modules: [gdr_small]
build:
  kbuild: [.]
  flgas: [V=1]
END
rm "$recipe"
fails 100 RECIPE_INVALID --recipe /work/recipe.conf
