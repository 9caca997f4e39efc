package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v2"
)

var versionCommand = subcommand{
	Command: described("version"),
	run: func(c *command, _ *cli.Context) error {
		if len(c.inputs) > 0 {
			return usageError("version takes no arguments", "ptxlink --help shows the usage")
		}
		return c.show([]byte(version() + "\n"))
	},
}

// version returns "ptxlink v1.2.3 (9ea99a8b1c2d, modified) go1.26.0 linux/amd64".
func version() string {
	commit, modified := "", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				commit = s.Value[:min(12, len(s.Value))]
			case s.Key == "vcs.modified" && s.Value == "true":
				modified = ", modified"
			}
		}
	}
	if commit != "" {
		commit = " (" + commit + modified + ")"
	}
	return fmt.Sprintf("ptxlink %s%s %s %s/%s", release(), commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// release returns "v1.2.3". A build from a clone has "(devel)" or the pseudo-version of the commit.
func release() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
