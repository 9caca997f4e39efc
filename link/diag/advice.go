package diag

// Advice is what --explain adds to the rule of an ID: what to do about a message, and
// where to read on. docs/errors.md has the same text.
type Advice struct {
	Cure string // a few sentences
	See  string // chapters and pages
}

var advice = [...]Advice{
	ABIPreserve: {
		"Correct the declaration, or rebuild the module that saw the old prototype. The registers that a function keeps are part of its call: a caller relies on those that its declaration names.",
		"PTX ISA, .abi_preserve; docs/abi.md, 2",
	},
	AddressSizeMismatch: {
		"Compile all modules for one address size: -m64 for nvcc and clang. Pointers and the layout of structures differ.",
		"PTX Interoperability 1.1; docs/abi.md, 1",
	},
	Alias: {
		"Define each name once: as a function, or as one alias whose prototype is declared before the .alias.",
		"PTX ISA, .alias",
	},
	AliasTarget: {
		"Define the target in the module of the alias, without .weak. ptxas accepts no other alias.",
		"PTX ISA, .alias",
	},
	ArchMismatch: {
		"Compile the module for the GPU that --arch names or an older one, or name a newer GPU. A target such as sm_90a runs on that GPU only.",
		"PTX ISA, .target",
	},
	ArchiveFormat: {
		"Keep one format in a package, or create another package of the other format: ptxlink ar --format=FORMAT libnew.a libold.a.",
		"docs/packages.md",
	},
	BadContainer: {
		"Fetch or build the file again. If other tools read it, report a bug: ptxlink names the byte at which it stopped.",
		"docs/packages.md",
	},
	CallEntry: {
		"Move the shared code to a .func. A kernel is launched, by the host or by dynamic parallelism, and cannot be called.",
		"PTX ISA, call; docs/abi.md, 2",
	},
	CommonInitialised: {
		"Initialise the variable in one module, and declare it .common without a value in the others.",
		"PTX ISA, .common",
	},
	CommonSize: {
		"Declare the largest size in the module that initialises the variable.",
		"PTX ISA, .common",
	},
	ConstantOverflow: {
		"Move the largest variables to .global memory, or load them through a pointer. ptxas limits all .const variables of a module together to 64 KiB.",
		"PTX ISA, .const; CUDA C++ Programming Guide, __constant__",
	},
	CSyntax: {
		"Write the type as in C, preprocessed: types, structures, unions, enumerations, classes, arrays and bit fields. ptxlink abi reads no statements, and no templates with partial specialisations.",
		"PTX Interoperability 1; ptxlink abi --help",
	},
	Defsym: {
		"Give a number that the declared type holds, or the name of another symbol. A symbol that an input defines cannot be defined again; --wrap puts another function in its place.",
		"docs/options.md, --defsym",
	},
	DuplicateInput: {
		"Name the file once. Make passes a file twice if two rules add it.",
		"README, In Make",
	},
	DuplicateSymbol: {
		"Declare inline what a header defines. Rename one of two kernels, functions or variables that differ; what only its own module uses may be static (in PTX, without .visible).",
		"PTX ISA, .visible and .weak",
	},
	EmptyInput: {
		"Check the command that wrote the file: a failed compiler or a full disk leaves such files.",
		"README, Inputs",
	},
	Fatbinary: {
		"Run the command of --dry-run by hand, or name another fatbinary with --fatbinary. Without it, write PTX or a cubin.",
		"docs/ptxas.md",
	},
	FileIndex: {
		"Give each .file of the module its own index. Compilers do; modules pasted into one file may not.",
		"PTX ISA, .file",
	},
	HostMismatch: {
		"Compile all modules on, or for, one operating system: long and the layout of structures differ. --allow-host-mismatch turns the error into a warning.",
		"PTX Interoperability 1.1; docs/abi.md, 1",
	},
	InitialiserCycle: {
		"Make one of the variables .visible, so that it can be declared before the other. PTX has no declaration of a variable without linkage.",
		"PTX ISA, initializers",
	},
	Internal: {
		"Nothing was written. Report the bug with the lines of the message and the inputs. Until it is fixed, leaving out an input or an option often helps.",
		"CONTRIBUTING.md",
	},
	Interrupted: {
		"Run the link again. An output is renamed into place when it is complete, so the old one is unchanged.",
		"README, What a mistake looks like",
	},
	IO: {
		"Check the path, the permissions and the space on the disk. The message ends with the reason that the system gave.",
		"README, Inputs",
	},
	LibdeviceCompiler: {
		"Choose an architecture that the compiler knows with --arch, another toolkit with --cuda, or a newer llc with --llc. Lines that start with \"it says\" are the output of the compiler.",
		"docs/libraries.md",
	},
	Library: {
		"Add the directory with -L. -lm stands for libm.a or libm.ptx; -l:FILE for exactly that file.",
		"README, Inputs; docs/libraries.md",
	},
	NarrowParam: {
		"Declare the parameter .b32 in every module. Integers below 32 bits are passed as 32 bits, and ptxas refuses narrower parameters of functions.",
		"PTX Interoperability 2.3, note A; docs/abi.md, 2",
	},
	NoABICalls: {
		"Compile the module for PTX 2.0 or later. Earlier versions have no calling convention.",
		"PTX Interoperability 2",
	},
	NoMember: {
		"List the members with ptxlink ar t ARCHIVE. Members are named after the files they were made from, without directories.",
		"docs/packages.md",
	},
	Noreturn: {
		"Correct the declaration, or rebuild the module that saw the old prototype. The compiler of the caller removes the code after the call, so a function that does return runs into other code.",
		"PTX ISA, .noreturn; docs/abi.md, 2",
	},
	NotAnArchive: {
		"Put the archive first: ptxlink ar libx.a a.ptx b.ptx. An operation, such as r or t, comes before it.",
		"docs/packages.md",
	},
	NotPTX: {
		"Compile the source to PTX first (nvcc -ptx -rdc=true, clang -S), or keep the PTX in the object: -gencode arch=compute_80,code=compute_80. A cubin holds machine code only.",
		"README, Inputs",
	},
	NothingLinked: {
		"Name a module with the kernels, choose a member with -u NAME, or link all members with --whole-archive.",
		"docs/packages.md",
	},
	NUL: {
		"Split the file at the NUL. ptxas would ignore everything after it without a message.",
		"PTX ISA, source format",
	},
	NVMember: {
		"Choose another host with --host, or another format: a package of plain PTX holds modules of every host.",
		"docs/packages.md",
	},
	NvlinkError: {
		"Read the message of nvlink; it is placed at the declaration of the symbol that it names. --save-temps keeps the cubins. --ptxas-mode=whole does not use nvlink.",
		"docs/ptxas.md",
	},
	OpaqueParam: {
		"Pass the 64-bit handle of the texture, sampler or surface as a .b64. Only entries take opaque parameters.",
		"PTX Interoperability 2.3, note E; docs/abi.md, 2",
	},
	OutputExists: {
		"Remove the file, choose another directory with -o, or overwrite it with -f. ptxlink extract overwrites only files with the same contents.",
		"ptxlink extract --help",
	},
	OutputIsInput: {
		"Choose another name for the output. An output never replaces an input.",
		"README, In Make",
	},
	ParamAlign: {
		"Correct the declaration, or rebuild the module that saw the old prototype. If two compilers align the type differently, pass a pointer, or align the type in the source (alignas).",
		"PTX Interoperability 2.3, note D; docs/abi.md, Where parameters are passed",
	},
	ParamCount: {
		"Correct the declaration, or rebuild the module that saw the old prototype.",
		"PTX Interoperability 2.3; docs/abi.md, 2",
	},
	ParamShape: {
		"Correct the declaration, or rebuild the module that saw the old prototype. A structure with one member is an array of bytes, and its member alone is a scalar.",
		"PTX Interoperability 2.3; docs/abi.md, 2",
	},
	ParamSize: {
		"Correct the declaration, or rebuild the module that saw the old prototype: a type has changed, or differs between hosts, as long does.",
		"PTX Interoperability 2.3; docs/abi.md, 2",
	},
	ParamSpace: {
		"Declare the parameters in .param on both sides. Parameters in registers follow no convention.",
		"PTX Interoperability 2.3; docs/abi.md, 2",
	},
	ParamType: {
		"Make the declarations agree. .b32 matches .u32 as well as .f32; an integer and a float do not match each other.",
		"PTX Interoperability 2.3; docs/abi.md, 2",
	},
	Partition: {
		"Omit --partition, or remove what cannot be cut: -S removes DWARF and --keep-line-info keeps the lines.",
		"docs/ptxas.md",
	},
	PTXVersion: {
		"Choose a version that has the target, the directive and the instruction, or omit the option, so that the output has the highest version of the inputs. A lower --arch may need a lower version.",
		"PTX ISA, .version and release notes",
	},
	PtxasError: {
		"Fix the input line that the message shows. If only the linked text is wrong, --save-temps keeps it; report that as a bug.",
		"docs/ptxas.md; PTX ISA",
	},
	PtxasFailed: {
		"Try another ptxas with --ptxas, or other options. Write PTX instead of a cubin to see the text that it failed on.",
		"docs/ptxas.md",
	},
	Split: {
		"Link the module with -S, which removes debug information, and split the result.",
		"docs/packages.md",
	},
	SymbolKind: {
		"Rename one of the two, or make the declaration match the definition.",
		"PTX ISA, declarations",
	},
	Syntax: {
		"Compare the file with what the compiler wrote: it may be cut off or edited. ptxlink reads declarations and braces; ptxas checks the instructions.",
		"PTX ISA, syntax",
	},
	SystemCall: {
		"Declare the function as the driver defines it. Neither ptxas nor nvlink checks this.",
		"PTX Interoperability 3; docs/abi.md, 3",
	},
	TargetMismatch: {
		"Compile the modules for GPUs of one kind. sm_90a and sm_100a run on one GPU only, and sm_1x treats denormals differently.",
		"PTX ISA, .target",
	},
	TargetName: {
		"Write an architecture such as sm_80 into .target.",
		"PTX ISA, .target",
	},
	TextureMode: {
		"Compile all modules for one mode. texmode_independent pairs each texture with a sampler; OpenCL uses it, CUDA does not.",
		"PTX ISA, texturing modes; docs/abi.md, 1",
	},
	ThinArchive: {
		"Make a package of it: ptxlink ar libnew.a thin.a. A thin archive holds only names; its members are files already.",
		"docs/packages.md",
	},
	Tool: {
		"Install the toolkit or ptxas (pip install nvidia-cuda-nvcc), or name the program with --ptxas, --nvlink, --cuda or the variables PTXAS, NVLINK, CUDA_HOME.",
		"docs/ptxas.md",
	},
	TypeLayout: {
		"Complete or correct the type. Some layouts depend on the compiler, and ptxlink abi does not guess.",
		"PTX Interoperability 1.2 and 1.3; docs/abi.md, 1",
	},
	UndefinedLocal: {
		"Declare the function .extern if another module defines it, or define it here.",
		"PTX ISA, .extern",
	},
	UndefinedSymbol: {
		"Add the module or the library that defines the symbol, with -L and -l for libraries. A note points at a definition that is spelt differently or is not .visible. Symbols that only removed code uses may stay undefined, except with --no-gc-sections. --allow-undefined=GLOB and -r permit undefined symbols.",
		"PTX Interoperability 7 for what device code does not have; docs/libraries.md",
	},
	Usage: {
		"Read the help line of the message, or ptxlink --help. Options may stand anywhere, with one dash or two.",
		"ptxlink --help",
	},
	VarAttribute: {
		"Declare the variable with the same attribute in every module. The driver places .managed and .unified variables.",
		"PTX ISA, .attribute; docs/abi.md, 4",
	},
	VarSize: {
		"Correct the declaration, or rebuild the module that saw the old one.",
		"PTX Interoperability 1.2; docs/abi.md, 1",
	},
	VarSpace: {
		"Declare the variable in the state space of its definition: __constant__ is .const, __device__ is .global, __shared__ is .shared.",
		"PTX ISA, state spaces; docs/abi.md",
	},
	VarType: {
		"Make the declarations agree: a texture, a sampler and a surface are different objects.",
		"PTX Interoperability 1.4; docs/abi.md, 1",
	},
	ABI: {
		"Pass the number as .b32, or in a structure of two bytes. 16-bit floats are for storage only.",
		"PTX Interoperability 2.3, note C; docs/abi.md, 2",
	},
	AddressSize: {
		"Write .address_size 64 into the module, or compile it with a compiler that does.",
		"PTX ISA, .address_size; docs/abi.md, 1",
	},
	Align: {
		"Declare the same alignment in every module. The output has the larger one; ptxas and nvlink ignore the difference, and vector loads trap.",
		"PTX Interoperability 1.2; docs/abi.md, 1",
	},
	Atomics: {
		"Use the sequence that the mapping prescribes, with one scope in all modules. For inline assembly, see the table of the C++ operations.",
		"PTX Interoperability 4; docs/abi.md, 4",
	},
	Cache: {
		"Name a directory that can be written with --cache-dir or PTXLINK_CACHE. The cubin is correct in any case.",
		"docs/ptxas.md",
	},
	DebugDropped: {
		"Compile the module again with -g or -G. If the compiler wrote the section that way, report a bug.",
		"docs/abi.md; DESIGN.md, Debug information",
	},
	DebugMixed: {
		"Compile all modules with debug information, or remove it with -S. ptxas assembles the whole output without optimisation if it has DWARF.",
		"DESIGN.md, Debug information",
	},
	DuplicateMemberSymbol: {
		"Keep one of the two members. nvlink links every member of an archive, so the symbol would be defined twice.",
		"docs/packages.md",
	},
	EmptyMember: {
		"Compile the file with -rdc=true, or make its functions .visible. Without the option, nvcc makes all functions private or removes them.",
		"docs/packages.md",
	},
	EntryRenamed: {
		"Make the entry .visible and give it a name of its own, so that the host can find it.",
		"PTX ISA, .entry",
	},
	FileName: {
		"Compile the source under a name in ASCII. ptxas 12.4 crashes on other names, and ptxas 13 refuses them.",
		"PTX ISA, .file",
	},
	Host: {
		"Compile all inputs for one host, or make a package for each.",
		"PTX Interoperability 1.1; docs/abi.md, 1",
	},
	IndirectCall: {
		"Compare the type of the pointer in the source with the function. The note points at the function that differs least.",
		"PTX Interoperability 2.3; docs/abi.md, 2",
	},
	Ignored: {
		"No action is needed: the option has no meaning for PTX. The warning is only shown with -Wignored.",
		"docs/options.md, Ignored",
	},
	LibdeviceSqrt: {
		"Name a toolkit with nvvm/bin/cicc with --cuda: it compiles libdevice as nvcc does.",
		"docs/libraries.md",
	},
	Loc: {
		"Declare the file with .file in the module. The lines are dropped, because the number may mean a file of another module.",
		"PTX ISA, .loc",
	},
	Lowered: {
		"Assemble the output with the ptxas of that version: it refuses instructions that the version does not have.",
		"PTX ISA, .version",
	},
	Mangled: {
		"Rebuild the module: the mangled name says what the source declared. Rename functions that are written by hand.",
		"PTX Interoperability 2; docs/abi.md",
	},
	MissingGPU: {
		"Compile the object for that GPU as well, with another -gencode, or leave the GPU out of the link. Kernels that only the object defines cannot be launched on it.",
		"docs/nvcc.md",
	},
	MemberName: {
		"Give the file the name of the member, or create the package again from all its files. If files have the same name, their members are numbered.",
		"docs/packages.md",
	},
	NVEntry: {
		"Keep kernels out of an nv package: let nvcc compile them, or load a linked module with cuModuleLoadData.",
		"docs/packages.md",
	},
	Nvlink: {
		"Read the message of nvlink. --save-temps keeps the cubins that it linked.",
		"docs/ptxas.md",
	},
	ODR: {
		"Rebuild the module that saw the old source. The link uses one definition for all modules, and the others were compiled with their own.",
		"The C++ standard, [basic.def.odr]; docs/abi.md",
	},
	Pragma: {
		"Put the pragma into the functions that need it. At module scope, ptxas would apply it to the functions of all inputs.",
		"PTX ISA, .pragma",
	},
	Ptxas: {
		"Read the message of ptxas at the line of the input. -Xptxas passes options that change its warnings.",
		"docs/ptxas.md",
	},
	PtxasOptions: {
		"Let ptxlink assemble the inputs separately, which --ptxas-mode=auto and --ptxas-mode=separate do; or pass the option for all inputs with -Xptxas.",
		"docs/ptxas.md",
	},
	Raised: {
		"Recompile the old module for the version and target of the output, or write the instruction with .sync.",
		"PTX ISA, release notes of the instruction",
	},
	RDC: {
		"Compile the module with -rdc=true if both mean one variable. Without it, nvcc turns extern __device__ declarations into definitions.",
		"CUDA C++ Programming Guide, separate compilation; docs/abi.md",
	},
	Record: {
		"Link from the original modules. The comment ptxlink-meta was edited or damaged; its contents are ignored.",
		"DESIGN.md, Shape of the output",
	},
	RegisterLimit: {
		"Pass --ptxas-mode=whole to accept this. Or raise the kernel's .maxntid limit, or compile the functions with -maxrregcount, so that they fit into the limit.",
		"docs/ptxas.md",
	},
	StaleIndex: {
		"Rebuild the index: ptxlink ar s ARCHIVE. Until then ptxlink reads the whole archive, which is slower.",
		"docs/packages.md",
	},
	Target: {
		"Pass --arch if the newer GPU is meant, or use a member for the older one. With the new target, the program does not run on all GPUs that its own modules run on.",
		"PTX ISA, .target",
	},
	Unmatched: {
		"Correct the name, or remove it. Names are compared as PTX spells them: those of C++ and Rust are mangled. ptxlink nm lists them, and nm -C shows their source names. If several links share their options, -Wno-unmatched hides the warning.",
		"docs/options.md",
	},
	UnusedOption: {
		"Remove the option, or add the one that it needs.",
		"ptxlink --help",
	},
}

// Advice returns the advice of the ID; the zero Advice for None.
func (id ID) Advice() Advice { return advice[id] }
