#pragma once
__device__ float outer(float x);
__device__ float middle(float x);
__device__ float inner(float x);
