#pragma once
// Marks code that the host compiler and nvcc both compile. The bin arithmetic exists once, for both.
#ifdef __CUDACC__
#define PIXHIST_HD __host__ __device__
#else
#define PIXHIST_HD
#endif
