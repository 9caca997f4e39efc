#pragma once
__device__ double force(double dx, double dy, double dz, double eps);
__device__ double potential(double r2);
