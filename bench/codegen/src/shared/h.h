#pragma once
__device__ float sum(float x);
