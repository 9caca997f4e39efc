package main

var checkCommand = subcommand{
	Command: described("check"),
	run:     links((*linkRequest).check),
}

func (j *linkRequest) check() error {
	j.checkOnly = true
	if err := inOrder(j.readOptions, j.readInputs); err != nil {
		return err
	}
	j.options.Atomics = j.opts.Bool("atomics")
	j.assembler.Compile = j.cubin() && j.opts.Bool("relocatable")
	job := j.job()
	if _, _, err := job.make(nil); err != nil {
		return err
	}
	if j.opts.Bool("time") {
		job.showTimes()
	}
	// Scripts expect no output unless there is a problem.
	if !j.cubin() && (j.opts.Bool("verbose") || j.report.text() && isTerminal(j.stderr)) {
		j.report.note("ptxas has not run on the result; --assemble runs it")
	}
	return nil
}
