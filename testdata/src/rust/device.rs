//! Device functions, in a crate of their own.
#![no_std]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Vec3 {
    pub x: f32,
    pub y: f32,
    pub z: f32,
}

#[no_mangle]
pub static WEIGHTS: [f32; 4] = [1.0, 2.0, 4.0, 8.0];

#[no_mangle]
pub extern "C" fn cross(a: Vec3, b: Vec3) -> Vec3 {
    Vec3 { x: a.y * b.z - a.z * b.y, y: a.z * b.x - a.x * b.z, z: a.x * b.y - a.y * b.x }
}

trait Shape {
    fn area(&self) -> f32;
}
struct Square(f32);
struct Circle(f32);
impl Shape for Square {
    fn area(&self) -> f32 {
        self.0 * self.0
    }
}
impl Shape for Circle {
    fn area(&self) -> f32 {
        self.0 * self.0 * 3.0
    }
}

// A call through a table of functions.
#[no_mangle]
pub extern "C" fn area(round: bool, x: f32) -> f32 {
    let shape: &dyn Shape = if round { &Circle(x) } else { &Square(x) };
    shape.area()
}
