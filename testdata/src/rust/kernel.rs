//! A kernel that calls functions of another crate and of CUDA C++.
#![no_std]
#![feature(abi_ptx, stdarch_nvptx)]
use core::arch::nvptx::_thread_idx_x;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Vec3 {
    pub x: f32,
    pub y: f32,
    pub z: f32,
}

extern "C" {
    fn cross(a: Vec3, b: Vec3) -> Vec3;
    fn area(round: bool, x: f32) -> f32;
    fn scale(x: f32) -> f32;
    static WEIGHTS: [f32; 4];
}

#[no_mangle]
pub unsafe extern "ptx-kernel" fn turn(v: *mut Vec3) {
    let i = _thread_idx_x() as usize;
    let a = *v.add(i);
    let mut b = cross(a, Vec3 { x: scale(a.y), y: a.z, z: WEIGHTS[i & 3] });
    b.x += area(i & 1 == 0, a.x);
    *v.add(i) = b;
}
