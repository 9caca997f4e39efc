package gen

// Tiny is a program of two modules: a kernel and the function that it calls.
var Tiny = [2]string{
	`// BEGIN PREAMBLE
.version 7.8
.target sm_80
.address_size 64
// END PREAMBLE

// BEGIN GLOBAL FUNCTION DECL: helper
.extern .func  (.param .b32 func_retval0) helper
(
	.param .b32 helper_param_0
)
;

// BEGIN GLOBAL FUNCTION DEF: kernel
.visible .entry kernel(
	.param .u64 kernel_param_0
)
{
	.reg .b32 	%r<3>;
	.reg .b64 	%rd<2>;

	ld.param.u64 	%rd1, [kernel_param_0];
	mov.u32 	%r1, %tid.x;
	{ // callseq 0, 0
	.param .b32 param0;
	st.param.b32 	[param0+0], %r1;
	.param .b32 retval0;
	call.uni (retval0), 
	helper, 
	(
	param0
	);
	ld.param.b32 	%r2, [retval0+0];
	} // callseq 0
	st.global.u32 	[%rd1], %r2;
	ret;

}
`,
	`// BEGIN PREAMBLE
.version 7.8
.target sm_80
.address_size 64
// END PREAMBLE

// BEGIN GLOBAL FUNCTION DEF: helper
.visible .func  (.param .b32 func_retval0) helper(
	.param .b32 helper_param_0
)
{
	.reg .b32 	%r<3>;

	ld.param.u32 	%r1, [helper_param_0];
	add.s32 	%r2, %r1, 1;
	st.param.b32 	[func_retval0+0], %r2;
	ret;

}
`,
}
