//! A whole program: a kernel that calls CUDA C++, and a panic handler.
#![no_std]
#![feature(abi_ptx, stdarch_nvptx)]
use core::arch::nvptx::_thread_idx_x;

extern "C" {
    fn scale(x: f32) -> f32;
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}

#[no_mangle]
pub unsafe extern "ptx-kernel" fn scale_all(v: *mut f32, n: usize) {
    let i = _thread_idx_x() as usize;
    if let Some(x) = core::slice::from_raw_parts_mut(v, n).get_mut(i) {
        *x = scale(*x);
    }
}
