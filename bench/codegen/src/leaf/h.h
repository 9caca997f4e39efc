#pragma once
__device__ float leaf(float x, float y);
