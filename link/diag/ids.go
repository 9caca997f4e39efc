package diag

import (
	"slices"
	"strings"
	"sync"
)

// ID is the name of a rule that errors or warnings come from. Users write that of a
// warning in -Wno-NAME, and programs distinguish messages by it, so a name never changes
// its meaning. Notes have no ID. docs/errors.md lists all IDs. An ID is an error, so that
// errors.Is(err, diag.UndefinedSymbol) reports whether a link failed for that reason.
type ID string

// Error returns the name.
func (id ID) Error() string { return string(id) }

// The rules of errors.
const (
	ABIPreserve         ID = "abi-preserve"
	AddressSizeMismatch ID = "address-size-mismatch"
	Alias               ID = "alias"
	AliasTarget         ID = "alias-target"
	ArchMismatch        ID = "arch-mismatch"
	ArchiveFormat       ID = "archive-format"
	BadContainer        ID = "bad-container"
	Bitcode             ID = "bitcode"
	CallEntry           ID = "call-entry"
	CommonInitialised   ID = "common-initialised"
	CommonSize          ID = "common-size"
	ConstantOverflow    ID = "constant-overflow"
	CSyntax             ID = "c-syntax"
	Defsym              ID = "defsym"
	DuplicateInput      ID = "duplicate-input"
	DuplicateSymbol     ID = "duplicate-symbol"
	EmptyInput          ID = "empty-input"
	Fatbinary           ID = "fatbinary"
	FileIndex           ID = "file-index"
	HostMismatch        ID = "host-mismatch"
	InitialiserCycle    ID = "initialiser-cycle"
	Internal            ID = "internal-error"
	Interrupted         ID = "interrupted"
	IO                  ID = "io"
	LibdeviceCompiler   ID = "libdevice-compiler"
	Library             ID = "library"
	NarrowParam         ID = "narrow-param"
	NoABICalls          ID = "no-abi-calls"
	NoMember            ID = "no-member"
	Noreturn            ID = "noreturn"
	NotAnArchive        ID = "not-an-archive"
	NotPTX              ID = "not-ptx"
	NothingLinked       ID = "nothing-linked"
	NUL                 ID = "nul"
	NVMember            ID = "nv-member"
	NvlinkError         ID = "nvlink-error"
	OpaqueParam         ID = "opaque-param"
	OutputExists        ID = "output-exists"
	OutputIsInput       ID = "output-is-input"
	ParamAlign          ID = "param-align"
	ParamCount          ID = "param-count"
	ParamShape          ID = "param-shape"
	ParamSize           ID = "param-size"
	ParamSpace          ID = "param-space"
	ParamType           ID = "param-type"
	Partition           ID = "partition"
	PTXVersion          ID = "ptx-version"
	PtxasError          ID = "ptxas-error"
	PtxasFailed         ID = "ptxas-failed"
	Split               ID = "split"
	SymbolKind          ID = "symbol-kind"
	Syntax              ID = "syntax"
	SystemCall          ID = "system-call"
	TargetMismatch      ID = "target-mismatch"
	TargetName          ID = "target-name"
	TextureMode         ID = "texture-mode"
	ThinArchive         ID = "thin-archive"
	Tool                ID = "tool"
	TypeLayout          ID = "type-layout"
	UndefinedLocal      ID = "undefined-local"
	UndefinedSymbol     ID = "undefined-symbol"
	Usage               ID = "usage"
	VarAttribute        ID = "var-attribute"
	VarSize             ID = "var-size"
	VarSpace            ID = "var-space"
	VarType             ID = "var-type"
)

// The rules of warnings.
const (
	ABI                   ID = "abi"
	AddressSize           ID = "address-size"
	Align                 ID = "align"
	Atomics               ID = "atomics"
	Cache                 ID = "cache"
	Clang                 ID = "clang"
	DebugDropped          ID = "debug-dropped"
	DebugMixed            ID = "debug-mixed"
	DuplicateMemberSymbol ID = "duplicate-member-symbol"
	EmptyMember           ID = "empty-member"
	EntryRenamed          ID = "entry-renamed"
	FileName              ID = "file-name"
	Host                  ID = "host"
	IndirectCall          ID = "indirect-call"
	Ignored               ID = "ignored"
	LibdeviceSqrt         ID = "libdevice-sqrt"
	Loc                   ID = "loc"
	Lowered               ID = "lowered"
	Mangled               ID = "mangled"
	MemberName            ID = "member-name"
	MissingGPU            ID = "missing-gpu"
	NVEntry               ID = "nv-entry"
	Nvlink                ID = "nvlink"
	ODR                   ID = "odr"
	Pragma                ID = "pragma"
	Ptxas                 ID = "ptxas"
	PtxasOptions          ID = "ptxas-options"
	Raised                ID = "raised"
	RDC                   ID = "rdc"
	Record                ID = "record"
	RegisterLimit         ID = "register-limit"
	StaleIndex            ID = "stale-index"
	Target                ID = "target"
	Unmatched             ID = "unmatched"
	UnusedOption          ID = "unused-option"
)

// Rule describes an ID, and says what to do about its messages.
type Rule struct {
	ID    ID
	Kind  Kind
	About string // one sentence without a full stop
	Cure  string // a few sentences
	See   string // chapters and pages
}

var rules = []Rule{
	{ABIPreserve, Error, "a function preserves different registers than its declaration",
		"Correct the declaration, or rebuild the module that saw the old prototype. The registers that a function keeps are part of its call: a caller relies on those that its declaration names.",
		"PTX ISA, .abi_preserve; docs/abi.md, 2"},
	{AddressSizeMismatch, Error, "inputs, or an input and its container or host, differ in the size of an address",
		"Compile all modules for one address size: -m64 for nvcc and clang. Pointers and the layout of structures differ.",
		"PTX Interoperability 1.1; docs/abi.md, 1"},
	{Alias, Error, "a name is aliased twice, or is also defined, or was never declared",
		"Define each name once: as a function, or as one alias whose prototype is declared before the .alias.",
		"PTX ISA, .alias"},
	{AliasTarget, Error, "the target of an alias is not a strong function defined in the same module",
		"Define the target in the module of the alias, without .weak. ptxas accepts no other alias.",
		"PTX ISA, .alias"},
	{ArchMismatch, Error, "a module, or all PTX of an input, does not run on the GPU of --arch",
		"Compile the module for the GPU that --arch names or an older one, or name a newer GPU. A target such as sm_90a runs on that GPU only.",
		"PTX ISA, .target"},
	{ArchiveFormat, Error, "a member of one format is added to a package of another",
		"Keep one format in a package, or create another package of the other format: ptxlink ar --format=FORMAT libnew.a libold.a.",
		"docs/packages.md"},
	{BadContainer, Error, "an archive, fatbin, object or compressed file is damaged or of an unknown kind",
		"Fetch or build the file again. If other tools read it, report a bug: ptxlink names the byte at which it stopped.",
		"docs/packages.md"},
	{Bitcode, Error, "LLVM bitcode cannot be compiled to PTX",
		"Read the message of clang or llc, which has the file if one unit is to blame. An older LLVM cannot read the bitcode of a newer one: install that release, or name its clang with --clang.",
		"docs/from-clang.md"},
	{CallEntry, Error, "a call names an entry, which can only be launched",
		"Move the shared code to a .func. A kernel is launched, by the host or by dynamic parallelism, and cannot be called.",
		"PTX ISA, call; docs/abi.md, 2"},
	{CommonInitialised, Error, "a .common variable is initialised by two modules, or beside a strong definition",
		"Initialise the variable in one module, and declare it .common without a value in the others.",
		"PTX ISA, .common"},
	{CommonSize, Error, "an initialised .common variable is smaller than in another module",
		"Declare the largest size in the module that initialises the variable.",
		"PTX ISA, .common"},
	{ConstantOverflow, Error, "the variables in constant memory exceed 64 KiB",
		"Move the largest variables to .global memory, or load them through a pointer. ptxas limits all .const variables of a module together to 64 KiB.",
		"PTX ISA, .const; CUDA C++ Programming Guide, __constant__"},
	{CSyntax, Error, "ptxlink abi cannot read a C declaration",
		"Write the type as in C, preprocessed: types, structures, unions, enumerations, classes, arrays and bit fields. ptxlink abi reads no statements, and no templates with partial specialisations.",
		"PTX Interoperability 1; ptxlink abi --help"},
	{Defsym, Error, "--defsym gives a symbol a value that it cannot have",
		"Give a number that the declared type holds, or the name of another symbol. A symbol that an input defines cannot be defined again; --wrap puts another function in its place.",
		"docs/options.md, --defsym"},
	{DuplicateInput, Error, "a file is named twice",
		"Name the file once. Make passes a file twice if two rules add it.",
		"README, In Make"},
	{DuplicateSymbol, Error, "two strong definitions have the same name",
		"Declare inline what a header defines. Rename one of two kernels, functions or variables that differ; what only its own module uses may be static (in PTX, without .visible).",
		"PTX ISA, .visible and .weak"},
	{EmptyInput, Error, "an input has no bytes",
		"Check the command that wrote the file: a failed compiler or a full disk leaves such files.",
		"README, Inputs"},
	{Fatbinary, Error, "fatbinary does not pack the cubin and the PTX",
		"Run the command of --dry-run by hand, or name another fatbinary with --fatbinary. Without it, write PTX or a cubin.",
		"docs/ptxas.md"},
	{FileIndex, Error, "a module uses an index of .file twice",
		"Give each .file of the module its own index. Compilers do; modules pasted into one file may not.",
		"PTX ISA, .file"},
	{HostMismatch, Error, "inputs were compiled for operating systems with different data layouts",
		"Compile all modules on, or for, one operating system: long and the layout of structures differ. --allow-host-mismatch turns the error into a warning.",
		"PTX Interoperability 1.1; docs/abi.md, 1"},
	{InitialiserCycle, Error, "initialisers of module-local variables refer to each other in a cycle",
		"Make one of the variables .visible, so that it can be declared before the other. PTX has no declaration of a variable without linkage.",
		"PTX ISA, initializers"},
	{Internal, Error, "a bug in ptxlink",
		"Nothing was written. Report the bug with the lines of the message and the inputs. Until it is fixed, leaving out an input or an option often helps.",
		"CONTRIBUTING.md"},
	{Interrupted, Error, "a signal ended ptxlink",
		"Run the link again. An output is renamed into place when it is complete, so the old one is unchanged.",
		"README, What a mistake looks like"},
	{IO, Error, "a file cannot be read or written, or a program cannot be run",
		"Check the path, the permissions and the space on the disk. The message ends with the reason that the system gave.",
		"README, Inputs"},
	{LibdeviceCompiler, Error, "a compiler does not accept libdevice",
		"Choose an architecture that the compiler knows with --arch, another toolkit with --cuda, or a newer llc with --llc. Lines that start with \"it says\" are the output of the compiler.",
		"docs/libraries.md"},
	{Library, Error, "no -L directory contains a -l library",
		"Add the directory with -L. -lm stands for libm.a or libm.ptx; -l:FILE for exactly that file.",
		"README, Inputs; docs/libraries.md"},
	{NarrowParam, Error, "a called function takes an integer narrower than 32 bits",
		"Declare the parameter .b32 in every module. Integers below 32 bits are passed as 32 bits, and ptxas refuses narrower parameters of functions.",
		"PTX Interoperability 2.3, note A; docs/abi.md, 2"},
	{NoABICalls, Error, "a module with a PTX version below 2.0 calls a function",
		"Compile the module for PTX 2.0 or later. Earlier versions have no calling convention.",
		"PTX Interoperability 2"},
	{NoMember, Error, "an archive has no member of that name",
		"List the members with ptxlink ar t ARCHIVE. Members are named after the files they were made from, without directories.",
		"docs/packages.md"},
	{Noreturn, Error, "a function that returns is declared .noreturn",
		"Correct the declaration, or rebuild the module that saw the old prototype. The compiler of the caller removes the code after the call, so a function that does return runs into other code.",
		"PTX ISA, .noreturn; docs/abi.md, 2"},
	{NotAnArchive, Error, "the archive to change is not an archive",
		"Put the archive first: ptxlink ar libx.a a.ptx b.ptx. An operation, such as r or t, comes before it.",
		"docs/packages.md"},
	{NotPTX, Error, "an input is neither PTX nor a file that contains PTX",
		"Compile the source to PTX first (nvcc -ptx -rdc=true, clang -S), or keep the PTX in the object: -gencode arch=compute_80,code=compute_80. A cubin holds machine code only.",
		"README, Inputs"},
	{NothingLinked, Error, "no module is linked, because all inputs are archives and nothing in them is needed",
		"Name a module with the kernels, choose a member with -u NAME, or link all members with --whole-archive.",
		"docs/packages.md"},
	{NUL, Error, "a module contains a NUL, at which ptxas stops reading",
		"Split the file at the NUL. ptxas would ignore everything after it without a message.",
		"PTX ISA, source format"},
	{NVMember, Error, "a module cannot be a member of an nv package",
		"Choose another host with --host, or another format: a package of plain PTX holds modules of every host.",
		"docs/packages.md"},
	{NvlinkError, Error, "nvlink does not link the cubins that ptxas wrote",
		"Read the message of nvlink; it is placed at the declaration of the symbol that it names. --save-temps keeps the cubins. --ptxas-mode=whole does not use nvlink.",
		"docs/ptxas.md"},
	{OpaqueParam, Error, "a function takes a texture, sampler or surface",
		"Pass the 64-bit handle of the texture, sampler or surface as a .b64. Only entries take opaque parameters.",
		"PTX Interoperability 2.3, note E; docs/abi.md, 2"},
	{OutputExists, Error, "an output file exists with other contents",
		"Remove the file, choose another directory with -o, or overwrite it with -f. ptxlink extract overwrites only files with the same contents.",
		"ptxlink extract --help"},
	{OutputIsInput, Error, "an output is also an input",
		"Choose another name for the output. An output never replaces an input.",
		"README, In Make"},
	{ParamAlign, Error, "a parameter or result differs in alignment, or is aligned to more than 128 bytes",
		"Correct the declaration, or rebuild the module that saw the old prototype. If two compilers align the type differently, pass a pointer, or align the type in the source (alignas).",
		"PTX Interoperability 2.3, note D; docs/abi.md, Where parameters are passed"},
	{ParamCount, Error, "the number of parameters or results differs",
		"Correct the declaration, or rebuild the module that saw the old prototype.",
		"PTX Interoperability 2.3; docs/abi.md, 2"},
	{ParamShape, Error, "a parameter or result is a scalar on one side and an array on the other",
		"Correct the declaration, or rebuild the module that saw the old prototype. A structure with one member is an array of bytes, and its member alone is a scalar.",
		"PTX Interoperability 2.3; docs/abi.md, 2"},
	{ParamSize, Error, "a parameter or result differs in size",
		"Correct the declaration, or rebuild the module that saw the old prototype: a type has changed, or differs between hosts, as long does.",
		"PTX Interoperability 2.3; docs/abi.md, 2"},
	{ParamSpace, Error, "a parameter or result is in .param on one side and in .reg on the other",
		"Declare the parameters in .param on both sides. Parameters in registers follow no convention.",
		"PTX Interoperability 2.3; docs/abi.md, 2"},
	{ParamType, Error, "a parameter or result is an integer on one side and a float on the other",
		"Make the declarations agree. .b32 matches .u32 as well as .f32; an integer and a float do not match each other.",
		"PTX Interoperability 2.3; docs/abi.md, 2"},
	{Partition, Error, "the linked module cannot be cut into parts",
		"Omit --partition, or remove what cannot be cut: -S removes DWARF and --keep-line-info keeps the lines.",
		"docs/ptxas.md"},
	{PTXVersion, Error, "--ptx-version is lower than the inputs need",
		"Choose a version that has the target, the directive and the instruction, or omit the option, so that the output has the highest version of the inputs. A lower --arch may need a lower version.",
		"PTX ISA, .version and release notes"},
	{PtxasError, Error, "ptxas refuses the linked module",
		"Fix the input line that the message shows. If only the linked text is wrong, --save-temps keeps it; report that as a bug.",
		"docs/ptxas.md; PTX ISA"},
	{PtxasFailed, Error, "ptxas crashes, or writes no cubin and gives no reason",
		"Try another ptxas with --ptxas, or other options. Write PTX instead of a cubin to see the text that it failed on.",
		"docs/ptxas.md"},
	{Split, Error, "a module cannot be split into members",
		"Link the module with -S, which removes debug information, and split the result.",
		"docs/packages.md"},
	{SymbolKind, Error, "a name is a function, an entry or a variable on one side, and a different kind on the other",
		"Rename one of the two, or make the declaration match the definition.",
		"PTX ISA, declarations"},
	{Syntax, Error, "a module is not valid PTX",
		"Compare the file with what the compiler wrote: it may be cut off or edited. ptxlink reads declarations and braces; ptxas checks the instructions.",
		"PTX ISA, syntax"},
	{SystemCall, Error, "a function of the driver is declared with a different prototype",
		"Declare the function as the driver defines it. Neither ptxas nor nvlink checks this.",
		"PTX Interoperability 3; docs/abi.md, 3"},
	{TargetMismatch, Error, "no target can run all modules",
		"Compile the modules for GPUs of one kind. sm_90a and sm_100a run on one GPU only, and sm_1x treats denormals differently.",
		"PTX ISA, .target"},
	{TargetName, Error, "a .target has no architecture, or one that is not sm_ and a number",
		"Write an architecture such as sm_80 into .target.",
		"PTX ISA, .target"},
	{TextureMode, Error, "modules that use textures have different texture modes",
		"Compile all modules for one mode. texmode_independent pairs each texture with a sampler; OpenCL uses it, CUDA does not.",
		"PTX ISA, texturing modes; docs/abi.md, 1"},
	{ThinArchive, Error, "a thin archive cannot be changed or unpacked",
		"Make a package of it: ptxlink ar libnew.a thin.a. A thin archive holds only names; its members are files already.",
		"docs/packages.md"},
	{Tool, Error, "a program or a file of the CUDA toolkit is not found or does not work",
		"Install the toolkit or ptxas (pip install nvidia-cuda-nvcc), or name the program with --ptxas, --nvlink, --cuda or the variables PTXAS, NVLINK, CUDA_HOME.",
		"docs/ptxas.md"},
	{TypeLayout, Error, "a C type has no layout",
		"Complete or correct the type. Some layouts depend on the compiler, and ptxlink abi does not guess.",
		"PTX Interoperability 1.2 and 1.3; docs/abi.md, 1"},
	{UndefinedLocal, Error, "a name is declared without linkage and has no definition in its module",
		"Declare the function .extern if another module defines it, or define it here.",
		"PTX ISA, .extern"},
	{UndefinedSymbol, Error, "no input defines a symbol",
		"Add the module or the library that defines the symbol, with -L and -l for libraries. A note points at a definition that is spelt differently or is not .visible. Symbols that only removed code uses may stay undefined, except with --no-gc-sections. --allow-undefined=GLOB and -r permit undefined symbols.",
		"PTX Interoperability 7 for what device code does not have; docs/libraries.md"},
	{Usage, Error, "the command line is invalid",
		"Read the help line of the message, or ptxlink --help. Options may stand anywhere, with one dash or two.",
		"ptxlink --help"},
	{VarAttribute, Error, "a variable is .managed or .unified on one side only",
		"Declare the variable with the same attribute in every module. The driver places .managed and .unified variables.",
		"PTX ISA, .attribute; docs/abi.md, 4"},
	{VarSize, Error, "a variable differs in size",
		"Correct the declaration, or rebuild the module that saw the old one.",
		"PTX Interoperability 1.2; docs/abi.md, 1"},
	{VarSpace, Error, "a variable is in different state spaces",
		"Declare the variable in the state space of its definition: __constant__ is .const, __device__ is .global, __shared__ is .shared.",
		"PTX ISA, state spaces; docs/abi.md"},
	{VarType, Error, "a variable is a texture, sampler or surface on one side, and has a different type on the other",
		"Make the declarations agree: a texture, a sampler and a surface are different objects.",
		"PTX Interoperability 1.4; docs/abi.md, 1"},
	{ABI, Warning, "a 16-bit float is passed to a function",
		"Pass the number as .b32, or in a structure of two bytes. 16-bit floats are for storage only.",
		"PTX Interoperability 2.3, note C; docs/abi.md, 2"},
	{AddressSize, Warning, "a module has no .address_size and gets that of the others",
		"Write .address_size 64 into the module, or compile it with a compiler that does.",
		"PTX ISA, .address_size; docs/abi.md, 1"},
	{Align, Warning, "a variable gets the larger alignment of another module",
		"Declare the same alignment in every module. The output has the larger one; ptxas and nvlink ignore the difference, and vector loads trap.",
		"PTX Interoperability 1.2; docs/abi.md, 1"},
	{Atomics, Warning, "an atomic sequence does not match any C++ operation, or scopes differ between modules (--atomics)",
		"Use the sequence that the mapping prescribes, with one scope in all modules. For inline assembly, see the table of the C++ operations.",
		"PTX Interoperability 4; docs/abi.md, 4"},
	{Cache, Warning, "the cache of cubins cannot be read or written",
		"Name a directory that can be written with --cache-dir or PTXLINK_CACHE. The cubin is correct in any case.",
		"docs/ptxas.md"},
	{Clang, Warning, "clang or llc warns about LLVM bitcode",
		"Read the message; the bitcode was compiled.",
		"docs/from-clang.md"},
	{DebugDropped, Warning, "the debug information of a module, or a section of it, cannot be read or merged and is dropped",
		"Compile the module again with -g or -G. If the compiler wrote the section that way, report a bug.",
		"docs/abi.md; DESIGN.md, Debug information"},
	{DebugMixed, Warning, "a module without DWARF is assembled unoptimised because another module has some",
		"Compile all modules with debug information, or remove it with -S. ptxas assembles the whole output without optimisation if it has DWARF.",
		"DESIGN.md, Debug information"},
	{DuplicateMemberSymbol, Warning, "two members of an nv package define the same symbol, and nvlink links every member",
		"Keep one of the two members. nvlink links every member of an archive, so the symbol would be defined twice.",
		"docs/packages.md"},
	{EmptyMember, Warning, "a member of a package defines nothing for other modules",
		"Compile the file with -rdc=true, or make its functions .visible. Without the option, nvcc makes all functions private or removes them.",
		"docs/packages.md"},
	{EntryRenamed, Warning, "an entry without linkage is renamed",
		"Make the entry .visible and give it a name of its own, so that the host can find it.",
		"PTX ISA, .entry"},
	{FileName, Warning, "a .file name is not ASCII, which ptxas does not accept",
		"Compile the source under a name in ASCII. ptxas 12.4 crashes on other names, and ptxas 13 refuses them.",
		"PTX ISA, .file"},
	{Host, Warning, "inputs or members were compiled for different hosts",
		"Compile all inputs for one host, or make a package for each.",
		"PTX Interoperability 1.1; docs/abi.md, 1"},
	{IndirectCall, Warning, "the prototype of an indirect call matches no function whose address is taken",
		"Compare the type of the pointer in the source with the function. The note points at the function that differs least.",
		"PTX Interoperability 2.3; docs/abi.md, 2"},
	{Ignored, Warning, "an option of other linkers is ignored (only shown with -Wignored)",
		"No action is needed: the option has no meaning for PTX. The warning is only shown with -Wignored.",
		"docs/options.md, Ignored"},
	{LibdeviceSqrt, Warning, "llc compiled libdevice with approximate square roots",
		"Name a toolkit with nvvm/bin/cicc with --cuda: it compiles libdevice as nvcc does.",
		"docs/libraries.md"},
	{Loc, Warning, "a .loc refers to a .file that the module does not have",
		"Declare the file with .file in the module. The lines are dropped, because the number may mean a file of another module.",
		"PTX ISA, .loc"},
	{Lowered, Warning, "--ptx-version is lower than that of an input",
		"Assemble the output with the ptxas of that version: it refuses instructions that the version does not have.",
		"PTX ISA, .version"},
	{Mangled, Warning, "the parameters of a function contradict its C++ name",
		"Rebuild the module: the mangled name says what the source declared. Rename functions that are written by hand.",
		"PTX Interoperability 2; docs/abi.md"},
	{MemberName, Warning, "ptxlink ar replaced a member, but another one may have been meant",
		"Give the file the name of the member, or create the package again from all its files. If files have the same name, their members are numbered.",
		"docs/packages.md"},
	{MissingGPU, Warning, "a host object has no device code for the GPU of --arch and is skipped (ptxlink nvlink)",
		"Compile the object for that GPU as well, with another -gencode, or leave the GPU out of the link. Kernels that only the object defines cannot be launched on it.",
		"docs/nvcc.md"},
	{NVEntry, Warning, "the host cannot launch the entries of an nv package",
		"Keep kernels out of an nv package: let nvcc compile them, or load a linked module with cuModuleLoadData.",
		"docs/packages.md"},
	{Nvlink, Warning, "nvlink gives a warning",
		"Read the message of nvlink. --save-temps keeps the cubins that it linked.",
		"docs/ptxas.md"},
	{ODR, Warning, "a type or an inline function differs between modules",
		"Rebuild the module that saw the old source. The link uses one definition for all modules, and the others were compiled with their own.",
		"The C++ standard, [basic.def.odr]; docs/abi.md"},
	{Pragma, Warning, "a pragma of a module is kept only for its entries",
		"Put the pragma into the functions that need it. At module scope, ptxas would apply it to the functions of all inputs.",
		"PTX ISA, .pragma"},
	{Ptxas, Warning, "ptxas gives a warning",
		"Read the message of ptxas at the line of the input. -Xptxas passes options that change its warnings.",
		"docs/ptxas.md"},
	{PtxasOptions, Warning, "ptxas does not get an option that inputs were compiled with",
		"Let ptxlink assemble the inputs separately, which --ptxas-mode=auto and --ptxas-mode=separate do; or pass the option for all inputs with -Xptxas.",
		"docs/ptxas.md"},
	{Raised, Warning, "an instruction does not assemble for the version or target of the output",
		"Recompile the old module for the version and target of the output, or write the instruction with .sync.",
		"PTX ISA, release notes of the instruction"},
	{RDC, Warning, "a module compiled without -rdc=true keeps a copy of a variable",
		"Compile the module with -rdc=true if both mean one variable. Without it, nvcc turns extern __device__ declarations into definitions.",
		"CUDA C++ Programming Guide, separate compilation; docs/abi.md"},
	{Record, Warning, "a module has a record of an earlier link that ptxlink did not write",
		"Link from the original modules. The comment ptxlink-meta was edited or damaged; its contents are ignored.",
		"DESIGN.md, Shape of the output"},
	{RegisterLimit, Warning, "one ptxas assembles the whole program, because separate functions exceed the limit of registers of a kernel",
		"Pass --ptxas-mode=whole to accept this. Or raise the kernel's .maxntid limit, or compile the functions with -maxrregcount, so that they fit into the limit.",
		"docs/ptxas.md"},
	{StaleIndex, Warning, "the index of a package does not match its members",
		"Rebuild the index: ptxlink ar s ARCHIVE. Until then ptxlink reads the whole archive, which is slower.",
		"docs/packages.md"},
	{Target, Warning, "an archive member changes the target of the output",
		"Pass --arch if the newer GPU is meant, or use a member for the older one. With the new target, the program does not run on all GPUs that its own modules run on.",
		"PTX ISA, .target"},
	{Unmatched, Warning, "a name or pattern of an option matches nothing in the link",
		"Correct the name, or remove it. Names are compared as PTX spells them: those of C++ and Rust are mangled. ptxlink nm lists them, and nm -C shows their source names. If several links share their options, -Wno-unmatched hides the warning.",
		"docs/options.md"},
	{UnusedOption, Warning, "an option has no effect, for example without another one",
		"Remove the option, or add the one that it needs.",
		"ptxlink --help"},
}

// Rules returns the rules of a kind, sorted by name.
func Rules(kind Kind) []Rule {
	list := slices.DeleteFunc(slices.Clone(rules), func(r Rule) bool { return r.Kind != kind })
	slices.SortFunc(list, func(a, b Rule) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return list
}

var ruleOf = sync.OnceValue(func() map[ID]Rule {
	of := make(map[ID]Rule, len(rules))
	for _, r := range rules {
		of[r.ID] = r
	}
	return of
})

// Rule returns the rule of an ID; ok is false for a name that ptxlink does not know.
func (id ID) Rule() (r Rule, ok bool) {
	r, ok = ruleOf()[id]
	return r, ok
}
