#pragma once
__device__ int mix(short a, unsigned char b, bool c);
