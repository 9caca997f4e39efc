# find_package(ptxlink) gives ptxlink::ptxlink and the functions ptx_library,
# ptx_archive and ptx_link. README.md of integrations/cmake describes them.
cmake_minimum_required(VERSION 3.20) # DEPFILE with Make

# The program of the same installation, or the one on PATH. PTXLINK names another.
find_program(PTXLINK ptxlink
	HINTS "${CMAKE_CURRENT_LIST_DIR}/../../../bin"
	DOC "Path of ptxlink")
if(NOT PTXLINK)
	set(ptxlink_FOUND FALSE)
	set(ptxlink_NOT_FOUND_MESSAGE "there is no program ptxlink; name it with -DPTXLINK=PATH")
	return()
endif()

if(NOT TARGET ptxlink::ptxlink)
	add_executable(ptxlink::ptxlink IMPORTED GLOBAL)
	set_target_properties(ptxlink::ptxlink PROPERTIES IMPORTED_LOCATION "${PTXLINK}")
endif()

# What compiles .cu sources: the project's CUDA compiler, or what is on PATH. A project
# need not enable the language CUDA.
if(NOT PTXLINK_CUDA_COMPILER)
	if(CMAKE_CUDA_COMPILER)
		set(PTXLINK_CUDA_COMPILER "${CMAKE_CUDA_COMPILER}" CACHE FILEPATH "Compiles .cu to PTX: nvcc or clang++" FORCE)
	else()
		find_program(PTXLINK_CUDA_COMPILER NAMES $ENV{CUDACXX} nvcc clang++
			HINTS ENV CUDA_HOME ENV CUDA_PATH PATH_SUFFIXES bin
			DOC "Compiles .cu to PTX: nvcc or clang++")
	endif()
endif()

# ptx_library(NAME SOURCES a.cu b.ptx ... [ARCH sm_NN] [OPTIONS ...] [INCLUDES ...]
#             [DEFINITIONS ...] [LIBRARIES ...])
#
# Modules that are linked whether something needs them or not. The libraries they need
# are linked with them.
function(ptx_library name)
	_ptxlink_arguments("${name}" "" "" ${ARGN})
	_ptxlink_modules("${name}" modules)
	_ptxlink_target("${name}" "${modules}")
endfunction()

# ptx_archive(NAME SOURCES ... [COMPRESS] [ARCH sm_NN] [OPTIONS ...] [INCLUDES ...]
#             [DEFINITIONS ...] [LIBRARIES ...])
#
# The archive libNAME.a, of which only the members are linked that something needs.
function(ptx_archive name)
	_ptxlink_arguments("${name}" "COMPRESS" "" ${ARGN})
	_ptxlink_modules("${name}" modules)
	set(archive "${CMAKE_CURRENT_BINARY_DIR}/lib${name}.a")
	set(compress "")
	if(arg_COMPRESS)
		set(compress --compress)
	endif()
	# rm: ptxlink ar adds to an archive that is there.
	add_custom_command(OUTPUT "${archive}"
		COMMAND "${CMAKE_COMMAND}" -E rm -f "${archive}"
		COMMAND ptxlink::ptxlink ar ${compress} "${archive}" ${modules}
		DEPENDS ${modules} "${PTXLINK}"
		COMMENT "Packing ${name}"
		VERBATIM)
	_ptxlink_target("${name}" "${archive}")
endfunction()

# ptx_link(NAME SOURCES ... [LIBRARIES ...] [ARCH sm_NN ...] [OUTPUT FILE]
#          [OPTIONS ...] [INCLUDES ...] [DEFINITIONS ...] [LINK_OPTIONS ...]
#          [EXCLUDE_FROM_ALL])
#
# Links into OUTPUT (NAME.ptx), whose suffix says what it is: .ptx, .cubin or .fatbin.
# The target property PTX_OUTPUT holds its path.
function(ptx_link name)
	_ptxlink_arguments("${name}" "EXCLUDE_FROM_ALL" "OUTPUT" ${ARGN})
	_ptxlink_modules("${name}" modules)
	set(inputs ${modules})
	set(targets "")
	_ptxlink_libraries("${name}" "${arg_LIBRARIES}")

	if(NOT arg_OUTPUT)
		set(arg_OUTPUT "${name}.ptx")
	endif()
	get_filename_component(output "${arg_OUTPUT}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
	set(options "")
	foreach(arch IN LISTS arg_ARCH)
		list(APPEND options "--arch=${arch}")
	endforeach()
	set(files ${inputs})
	list(FILTER files EXCLUDE REGEX "^-")
	# ptxlink writes what it read; CMake rereads it when the output is built again.
	add_custom_command(OUTPUT "${output}"
		COMMAND ptxlink::ptxlink ${inputs} -o "${output}" ${options} ${arg_LINK_OPTIONS} "--dependency-file=${output}.d"
		DEPENDS ${files} ${targets} "${PTXLINK}"
		DEPFILE "${output}.d"
		COMMENT "Linking ${name}"
		VERBATIM)
	set(all ALL)
	if(arg_EXCLUDE_FROM_ALL)
		set(all "")
	endif()
	add_custom_target("${name}" ${all} DEPENDS "${output}")
	set_target_properties("${name}" PROPERTIES PTX_OUTPUT "${output}")
endfunction()

# _ptxlink_arguments parses the arguments of the functions into arg_*, of the caller.
function(_ptxlink_arguments name toggles single)
	cmake_parse_arguments(arg "${toggles}" "${single}" "SOURCES;ARCH;OPTIONS;INCLUDES;DEFINITIONS;LIBRARIES;LINK_OPTIONS" ${ARGN})
	if(arg_UNPARSED_ARGUMENTS)
		message(FATAL_ERROR "${name}: unknown arguments ${arg_UNPARSED_ARGUMENTS}; name sources after SOURCES")
	endif()
	foreach(argument ${toggles} ${single} SOURCES ARCH OPTIONS INCLUDES DEFINITIONS LIBRARIES LINK_OPTIONS)
		set(arg_${argument} "${arg_${argument}}" PARENT_SCOPE)
	endforeach()
endfunction()

# _ptxlink_modules adds a command for each .cu among the sources, and returns the
# modules in their order.
function(_ptxlink_modules name result)
	set(modules "")
	foreach(source IN LISTS arg_SOURCES)
		get_filename_component(path "${source}" ABSOLUTE)
		if(NOT path MATCHES "\\.cu$")
			list(APPEND modules "${path}")
			continue()
		endif()
		# Two sources may have one name in different directories.
		file(RELATIVE_PATH module "${CMAKE_CURRENT_SOURCE_DIR}" "${path}")
		string(REPLACE ".." "__" module "${module}")
		string(REPLACE ":" "_" module "${module}")
		set(module "${CMAKE_CURRENT_BINARY_DIR}/${name}.dir/${module}.ptx")
		_ptxlink_compile("${name}" "${path}" "${module}")
		list(APPEND modules "${module}")
	endforeach()
	set(${result} "${modules}" PARENT_SCOPE)
endfunction()

function(_ptxlink_compile name source module)
	if(NOT PTXLINK_CUDA_COMPILER)
		message(FATAL_ERROR "${name}: nothing compiles ${source}; name nvcc or clang++ with -DPTXLINK_CUDA_COMPILER=PATH")
	endif()
	# The lowest GPU: a module runs on later ones.
	set(arch ${arg_ARCH})
	if(arch)
		list(SORT arch COMPARE NATURAL)
		list(GET arch 0 arch)
	elseif(CMAKE_CUDA_ARCHITECTURES MATCHES "^([0-9]+[af]?)")
		set(arch "sm_${CMAKE_MATCH_1}")
	else()
		message(FATAL_ERROR "${name}: name the GPU of ${source} with ARCH sm_NN, or with CMAKE_CUDA_ARCHITECTURES")
	endif()

	separate_arguments(flags NATIVE_COMMAND "${CMAKE_CUDA_FLAGS}")
	if(CMAKE_BUILD_TYPE)
		string(TOUPPER "${CMAKE_BUILD_TYPE}" config)
		separate_arguments(more NATIVE_COMMAND "${CMAKE_CUDA_FLAGS_${config}}")
		list(APPEND flags ${more})
	endif()
	foreach(include IN LISTS arg_INCLUDES)
		get_filename_component(include "${include}" ABSOLUTE)
		list(APPEND flags "-I${include}")
	endforeach()
	foreach(definition IN LISTS arg_DEFINITIONS)
		list(APPEND flags "-D${definition}")
	endforeach()
	get_filename_component(compiler "${PTXLINK_CUDA_COMPILER}" NAME)
	if(CMAKE_CUDA_COMPILER_ID STREQUAL "Clang" OR compiler MATCHES "clang")
		set(command "${PTXLINK_CUDA_COMPILER}" -x cuda --cuda-device-only -S -fgpu-rdc "--cuda-gpu-arch=${arch}")
	else()
		set(command "${PTXLINK_CUDA_COMPILER}" -ptx -rdc=true "-arch=${arch}")
		if(CMAKE_CUDA_HOST_COMPILER)
			list(APPEND command -ccbin "${CMAKE_CUDA_HOST_COMPILER}")
		endif()
	endif()
	get_filename_component(directory "${module}" DIRECTORY)
	file(MAKE_DIRECTORY "${directory}")
	add_custom_command(OUTPUT "${module}"
		COMMAND ${command} ${flags} ${arg_OPTIONS} -MD -MT "${module}" -MF "${module}.d" "${source}" -o "${module}"
		DEPENDS "${source}"
		DEPFILE "${module}.d"
		COMMENT "Compiling ${source} to PTX"
		VERBATIM)
endfunction()

# _ptxlink_target adds the target of a library.
function(_ptxlink_target name modules)
	foreach(library IN LISTS arg_LIBRARIES)
		_ptxlink_known("${name}" "${library}")
	endforeach()
	add_custom_target("${name}" DEPENDS ${modules})
	set_target_properties("${name}" PROPERTIES PTX_MODULES "${modules}" PTX_LIBRARIES "${arg_LIBRARIES}" PTX_LIBRARY TRUE)
endfunction()

# _ptxlink_libraries adds the libraries, each once and before those that it needs, to
# inputs and targets of the caller.
macro(_ptxlink_libraries name list)
	set(queue ${list})
	set(seen "")
	while(queue)
		list(POP_FRONT queue library)
		if(library IN_LIST seen)
			continue()
		endif()
		list(APPEND seen "${library}")
		_ptxlink_known("${name}" "${library}")
		if(TARGET "${library}")
			get_target_property(modules "${library}" PTX_MODULES)
			get_target_property(needs "${library}" PTX_LIBRARIES)
			list(APPEND inputs ${modules})
			list(APPEND targets "${library}")
			list(PREPEND queue ${needs})
		elseif(library MATCHES "^-")
			list(APPEND inputs "${library}")
		else()
			get_filename_component(library "${library}" ABSOLUTE)
			list(APPEND inputs "${library}")
		endif()
	endwhile()
endmacro()

# _ptxlink_known ends the configuration if a library is neither a target of the functions
# above, nor an option such as -lm, nor a file.
function(_ptxlink_known name library)
	if(TARGET "${library}")
		get_target_property(known "${library}" PTX_LIBRARY)
		if(NOT known)
			message(FATAL_ERROR "${name}: ${library} is no target of ptx_library or ptx_archive")
		endif()
		return()
	endif()
	get_filename_component(path "${library}" ABSOLUTE)
	if(NOT library MATCHES "^-" AND NOT EXISTS "${path}")
		message(FATAL_ERROR "${name}: there is no library ${library}; define it with ptx_library or ptx_archive before, or name a file")
	endif()
endfunction()
