// 700 structs and unions, and how nvcc and clang lay them out for nvptx64. Made by
// make.sh in this directory; README.md explains it.
//
// Cuda compilation tools, release 12.4, V12.4.131
// Debian clang version 19.1.7 (3~deb12u1)

enum E8 : unsigned char { E8_0 };
enum E16 : short { E16_0 };
enum E32 : unsigned int { E32_0 };
enum E64 : long long { E64_0 };
enum E { E_0 };

struct S0 { int a[3][1]; };
// both: 12/4 a@0 param 4[12] result 4[12]
struct S1 { signed char a : 3; signed char b : 8; short1 c; E32 : 26; short d; unsigned long : 0; };
// nvcc: 16/2 a@0:3 b@8:8 c@16 d@64 param 2[16] result 2[16]
// clang: 16/2 a@0:3 b@8:8 c@16 d@64 param 4[16] result 4[16]
struct S2 { E a; };
// both: 4/4 a@0 param 4[4] result 4[4]
struct S3 { E8 a; long b[4]; bool : 1; };
// both: 48/8 a@0 b@64 param 8[48] result 8[48]
struct __attribute__((aligned(16))) S4 { unsigned char a; };
// nvcc: 16/16 a@0 param 16[16] result 16[16]
// clang: 16/16 a@0 param 16[16] result 1[16]
union S5 { S4 a; char b; char c; };
// nvcc: 16/16 a@0 a.a@0 b@0 c@0 param 16[16] result 16[16]
// clang: 16/16 a@0 a.a@0 b@0 c@0 param 16[16] result 1[16]
struct __attribute__((aligned(64))) S6 { S4 a[3]; S1 b[3]; signed char c : 6; uint16_t d : 8; };
// nvcc: 128/64 a@0 a[0].a@0 b@384 b[0].a@384:3 b[0].b@392:8 b[0].c@400 b[0].d@448 c@768:6 d@774:8 param 64[128] result 64[128]
// clang: 128/64 a@0 a[0].a@0 b@384 b[0].a@384:3 b[0].b@392:8 b[0].c@400 b[0].d@448 c@768:6 d@774:8 param 64[128] result 4[128]
struct S7 { unsigned long long a : 39; unsigned short b : 13; };
// both: 8/8 a@0:39 b@48:13 param 8[8] result 8[8]
union S8 { bool a[2]; long : 0; char b : 6; E8 : 4; int c : 30; int d : 19; };
// both: 4/4 a@0 b@0:6 c@0:30 d@0:19 param 4[4] result 4[4]
struct S9 { S8 a; };
// both: 4/4 a@0 a.a@0 a.b@0:6 a.c@0:30 a.d@0:19 param 4[4] result 4[4]
struct S10 { long3 a; unsigned char b : 3; };
// both: 32/8 a@0 b@192:3 param 8[32] result 8[32]
union __attribute__((aligned(8))) S11 { };
// nvcc: 8/8 param 8[8] result 8[8]
// clang: 8/8 param 8[8] result 1[8]
struct S12 { struct { unsigned int a : 3; short b : 16; double c; }; bool d[2][2]; int e : 15; struct { int f : 23; }; };
// both: 32/8 a@0:3 b@16:16 c@64 d@128 e@160:15 f@192:23 param 8[32] result 8[32]
struct S13 { char a : 6; };
// both: 1/1 a@0:6 param 1[1] result 1[1]
struct __attribute__((packed)) S14 { E8 a; int b : 1; };
// both: 2/1 a@0 b@8:1 param 1[2] result 1[2]
struct S15 { unsigned long a : 25; unsigned char : 0; E8 b : 1 __attribute__((aligned(16))); unsigned long c : 14; };
// nvcc: 32/16 a@0:25 b@128:1 c@129:14 param 16[32] result 16[32]
// clang: 32/16 a@0:25 b@128:1 c@129:14 param 16[32] result 4[32]
struct S16 { E32 a : 12; unsigned char b : 2; E8 c; unsigned short d : 3; };
// nvcc: 4/4 a@0:12 b@12:2 c@16 d@24:3 param 4[4] result 4[4]
// clang: 4/4 a@0:12 b@12:2 c@16 d@24:3 param 4[4] result 2[4]
struct S17 { struct __attribute__((packed)) __attribute__((aligned(64))) { bool a __attribute__((aligned(16))); ulong2 b[1]; S14 c; short d[1][1]; }; };
// nvcc: 64/64 a@0 b@8 c@136 c.a@136 c.b@144:1 d@152 param 64[64] result 64[64]
// clang: 64/64 a@0 b@8 c@136 c.a@136 c.b@144:1 d@152 param 64[64] result 1[64]
union S18 { short : 0; size_t a; long long b : 32; S9 c[2][4]; long : 25; };
// both: 32/8 a@0 b@0:32 c@0 c[0][0].a@0 c[0][0].a.a@0 c[0][0].a.b@0:6 c[0][0].a.c@0:30 c[0][0].a.d@0:19 param 8[32] result 8[32]
struct S19 { uchar1 a; short b; };
// both: 4/2 a@0 b@16 param 2[4] result 2[4]
union __attribute__((packed)) __attribute__((aligned(64))) S20 { long long a : 8; short b : 12; long long c : 24; char d : 8 __attribute__((packed)); };
// nvcc: 64/64 a@0:8 b@0:12 c@0:24 d@0:8 param 64[64] result 64[64]
// clang: 64/64 a@0:8 b@0:12 c@0:24 d@0:8 param 64[64] result 4[64]
struct S21 { short a : 8; };
// nvcc: 2/2 a@0:8 param 2[2] result 2[2]
// clang: 2/2 a@0:8 param 2[2] result 1[2]
union S22 { unsigned int a; S20 b; ulonglong4 c[4]; uint64_t d __attribute__((aligned(64))); short e : 5; };
// nvcc: 128/64 a@0 b@0 b.a@0:8 b.b@0:12 b.c@0:24 b.d@0:8 c@0 d@0 e@0:5 param 64[128] result 64[128]
// clang: 128/64 a@0 b@0 b.a@0:8 b.b@0:12 b.c@0:24 b.d@0:8 c@0 d@0 e@0:5 param 64[128] result 8[128]
union S23 { E32 a : 26; bool b : 1; E32 c : 17; long long d __attribute__((aligned(32))); unsigned int e : 16; bool f : 1 __attribute__((packed)); };
// nvcc: 32/32 a@0:26 b@0:1 c@0:17 d@0 e@0:16 f@0:1 param 32[32] result 32[32]
// clang: 32/32 a@0:26 b@0:1 c@0:17 d@0 e@0:16 f@0:1 param 32[32] result 8[32]
struct S24 { struct { ulonglong4 a; int b : 26; S5 c; long d[1][4]; }; signed char e : 3; E16 f : 1; uint2 g; unsigned long long : 30; };
// nvcc: 128/16 a@0 b@256:26 c@384 c.a@384 c.a.a@384 c.b@384 c.c@384 d@512 e@768:3 f@771:1 g@832 param 16[128] result 16[128]
// clang: 128/16 a@0 b@256:26 c@384 c.a@384 c.a.a@384 c.b@384 c.c@384 d@512 e@768:3 f@771:1 g@832 param 16[128] result 8[128]
struct S25 { E16 : 2; unsigned long long a : 15; S4 b; };
// nvcc: 32/16 a@2:15 b@128 b.a@128 param 16[32] result 16[32]
// clang: 32/16 a@2:15 b@128 b.a@128 param 16[32] result 4[32]
struct S26 { long a : 3; short b : 12; char c : 8; unsigned long d : 7; E e; };
// nvcc: 8/8 a@0:3 b@3:12 c@16:8 d@24:7 e@32 param 8[8] result 8[8]
// clang: 8/8 a@0:3 b@3:12 c@16:8 d@24:7 e@32 param 8[8] result 4[8]
struct S27 { short a; unsigned __int128 b; long long * c[2]; unsigned int d : 21; S13 e; };
// both: 64/16 a@0 b@128 c@256 d@384:21 e@408 e.a@408:6 param 16[64] result 16[64]
union S28 { uchar4 a; char4 b __attribute__((packed)); unsigned char c : 4; char d; };
// nvcc: 4/4 a@0 b@0 c@0:4 d@0 param 4[4] result 4[4]
// clang: 4/4 a@0 b@0 c@0:4 d@0 param 4[4] result 1[4]
struct S29 { unsigned int : 0; E16 a : 6; unsigned char * b __attribute__((packed)); unsigned short c : 5; int d : 10; E64 e; };
// nvcc: 24/8 a@0:6 b@8 c@72:5 d@77:10 e@128 param 8[24] result 8[24]
// clang: 24/8 a@0:6 b@8 c@72:5 d@77:10 e@128 param 8[24] result 1[24]
struct __attribute__((aligned(8))) S30 { unsigned char a; unsigned long long b : 39; };
// nvcc: 8/8 a@0 b@8:39 param 8[8] result 8[8]
// clang: 8/8 a@0 b@8:39 param 8[8] result 1[8]
struct S31 { short a; short b : 2; unsigned long c : 34; size_t d; };
// both: 16/8 a@0 b@16:2 c@18:34 d@64 param 8[16] result 8[16]
struct S32 { double a; unsigned long b : 9; int c; };
// both: 16/8 a@0 b@64:9 c@96 param 8[16] result 8[16]
union __attribute__((packed)) S33 { char : 1; unsigned short a : 9; longlong2 b; E16 c : 12; E d; };
// nvcc: 16/1 a@0:9 b@0 c@0:12 d@0 param 1[16] result 1[16]
// clang: 16/1 a@0:9 b@0 c@0:12 d@0 param 8[16] result 8[16]
struct S34 { unsigned char a : 3 __attribute__((aligned(8))); S31 b; struct { E8 c : 1 __attribute__((aligned(64))); }; E8 d __attribute__((aligned(16))); };
// nvcc: 192/64 a@0:3 b@64 b.a@64 b.b@80:2 b.c@82:34 b.d@128 c@512:1 d@1024 param 64[192] result 64[192]
// clang: 192/64 a@0:3 b@64 b.a@64 b.b@80:2 b.c@82:34 b.d@128 c@512:1 d@1024 param 64[192] result 8[192]
struct __attribute__((packed)) S35 { long * a[1]; char : 1; };
// both: 9/1 a@0 param 1[9] result 1[9]
struct S36 { char a : 3; uint16_t : 4 __attribute__((packed)); uint16_t b : 16; unsigned int c : 27; unsigned long long : 57; char2 d; };
// nvcc: 20/4 a@0:3 b@16:16 c@32:27 d@128 param 4[20] result 4[20]
// clang: 20/4 a@0:3 b@16:16 c@32:27 d@128 param 4[20] result 1[20]
struct S37 { S32 a; E8 b; };
// both: 24/8 a@0 a.a@0 a.b@64:9 a.c@96 b@128 param 8[24] result 8[24]
struct __attribute__((aligned(32))) S38 { unsigned short a : 13 __attribute__((aligned(16))); int8_t b __attribute__((packed)); int c : 16; };
// nvcc: 32/32 a@0:13 b@16 c@32:16 param 32[32] result 32[32]
// clang: 32/32 a@0:13 b@16 c@32:16 param 32[32] result 2[32]
union S39 { E16 a : 10; signed char b : 8; short c; char d; S37 e[2][3]; E8 f : 8; };
// both: 144/8 a@0:10 b@0:8 c@0 d@0 e@0 e[0][0].a@0 e[0][0].a.a@0 e[0][0].a.b@64:9 e[0][0].a.c@96 e[0][0].b@128 f@0:8 param 8[144] result 8[144]
struct S40 { E8 : 3; int a : 10; size_t b; char c : 7; float * d; };
// both: 32/8 a@3:10 b@64 c@128:7 d@192 param 8[32] result 8[32]
struct S41 { float4 a; long : 0; long long b : 41 __attribute__((aligned(16))); size_t c[3]; unsigned long d : 27; };
// nvcc: 64/16 a@0 b@128:41 c@192 d@384:27 param 16[64] result 16[64]
// clang: 64/16 a@0 b@128:41 c@192 d@384:27 param 16[64] result 8[64]
struct S42 { S29 a; short b : 16; unsigned int c : 15; E32 d : 25; };
// both: 32/8 a@0 a.a@0:6 a.b@8 a.c@72:5 a.d@77:10 a.e@128 b@192:16 c@208:15 d@224:25 param 8[32] result 8[32]
struct S43 { unsigned long a : 52; unsigned short b : 9; };
// both: 8/8 a@0:52 b@52:9 param 8[8] result 8[8]
struct S44 { signed char a : 5; longlong4 b; unsigned long c : 34; S4 d; unsigned int e : 9; E64 f; };
// nvcc: 96/16 a@0:5 b@128 c@384:34 d@512 d.a@512 e@640:9 f@704 param 16[96] result 16[96]
// clang: 96/16 a@0:5 b@128 c@384:34 d@512 d.a@512 e@640:9 f@704 param 16[96] result 8[96]
struct S45 { E a __attribute__((aligned(32))); unsigned long b : 2; E64 c : 4; unsigned __int128 d[1]; };
// nvcc: 32/32 a@0 b@32:2 c@34:4 d@128 param 32[32] result 32[32]
// clang: 32/32 a@0 b@32:2 c@34:4 d@128 param 32[32] result 16[32]
struct S46 { char4 a; struct { E8 b : 7; long c __attribute__((packed)); }; short d : 6; bool e : 1 __attribute__((aligned(8))); float f; int4 g; };
// nvcc: 48/16 a@0 b@32:7 c@40 d@104:6 e@128:1 f@160 g@256 param 16[48] result 16[48]
// clang: 48/16 a@0 b@32:7 c@40 d@104:6 e@128:1 f@160 g@256 param 16[48] result 4[48]
struct S47 { uchar4 a; unsigned short b : 14; unsigned char c : 2; E8 d : 2; unsigned long : 3; };
// both: 8/4 a@0 b@32:14 c@46:2 d@48:2 param 4[8] result 4[8]
union S48 { uchar4 a; long b : 3; E8 c : 4; };
// nvcc: 8/8 a@0 b@0:3 c@0:4 param 8[8] result 8[8]
// clang: 8/8 a@0 b@0:3 c@0:4 param 8[8] result 1[8]
struct S49 { int a; long4 b; float c; struct __attribute__((aligned(16))) { int4 d; char e; }; E16 : 12; char f : 3; };
// nvcc: 112/16 a@0 b@128 c@384 d@512 e@640 f@780:3 param 16[112] result 16[112]
// clang: 112/16 a@0 b@128 c@384 d@512 e@640 f@780:3 param 16[112] result 8[112]
union __attribute__((packed)) __attribute__((aligned(8))) S50 { unsigned int a : 10; long long b : 39; uint64_t c; unsigned int d; char e : 8; };
// both: 8/8 a@0:10 b@0:39 c@0 d@0 e@0:8 param 8[8] result 8[8]
union S51 { long long a; long b; unsigned int c : 13; double * d[3]; unsigned int e : 30; int f; };
// both: 24/8 a@0 b@0 c@0:13 d@0 e@0:30 f@0 param 8[24] result 8[24]
struct S52 { size_t a; double b __attribute__((aligned(64))); long c : 21; char d : 4; char e; uint16_t f : 2; };
// nvcc: 128/64 a@0 b@512 c@576:21 d@600:4 e@608 f@616:2 param 64[128] result 64[128]
// clang: 128/64 a@0 b@512 c@576:21 d@600:4 e@608 f@616:2 param 64[128] result 8[128]
struct S53 { double3 a; S24 b; long long c : 41; int d : 25; int e : 22; };
// nvcc: 176/16 a@0 b@256 b.a@256 b.b@512:26 b.c@640 b.c.a@640 b.c.a.a@640 b.c.b@640 b.c.c@640 b.d@768 b.e@1024:3 b.f@1027:1 b.g@1088 c@1280:41 d@1344:25 e@1376:22 param 16[176] result 16[176]
// clang: 176/16 a@0 b@256 b.a@256 b.b@512:26 b.c@640 b.c.a@640 b.c.a.a@640 b.c.b@640 b.c.c@640 b.d@768 b.e@1024:3 b.f@1027:1 b.g@1088 c@1280:41 d@1344:25 e@1376:22 param 16[176] result 8[176]
struct S54 { E32 a : 17; unsigned int b : 2; };
// both: 4/4 a@0:17 b@17:2 param 4[4] result 4[4]
struct S55 { struct { double a; E16 b : 1; signed char c : 1 __attribute__((packed)); unsigned int d : 15 __attribute__((packed)); ulonglong1 e; unsigned int : 19; }; uchar3 f; unsigned __int128 * g; unsigned char h : 6; unsigned char i : 5; };
// both: 56/8 a@0 b@64:1 c@65:1 d@66:15 e@128 f@256 g@320 h@384:6 i@392:5 param 8[56] result 8[56]
struct S56 { bool a; unsigned short : 15; float b __attribute__((aligned(64))); };
// nvcc: 128/64 a@0 b@512 param 64[128] result 64[128]
// clang: 128/64 a@0 b@512 param 64[128] result 4[128]
struct __attribute__((packed)) S57 { S40 a[3]; signed char b : 4 __attribute__((aligned(1))); };
// both: 97/1 a@0 a[0].a@3:10 a[0].b@64 a[0].c@128:7 a[0].d@192 b@768:4 param 1[97] result 1[97]
struct __attribute__((aligned(64))) S58 { unsigned long : 64; unsigned int : 31; unsigned char a; S42 b; };
// nvcc: 64/64 a@96 b@128 b.a@128 b.a.a@128:6 b.a.b@136 b.a.c@200:5 b.a.d@205:10 b.a.e@256 b.b@320:16 b.c@336:15 b.d@352:25 param 64[64] result 64[64]
// clang: 64/64 a@96 b@128 b.a@128 b.a.a@128:6 b.a.b@136 b.a.c@200:5 b.a.d@205:10 b.a.e@256 b.b@320:16 b.c@336:15 b.d@352:25 param 64[64] result 8[64]
struct __attribute__((aligned(64))) S59 { unsigned long a : 2; size_t * b; char3 c; };
// nvcc: 64/64 a@0:2 b@64 c@128 param 64[64] result 64[64]
// clang: 64/64 a@0:2 b@64 c@128 param 64[64] result 8[64]
struct S60 { E16 a; ushort2 b; };
// nvcc: 8/4 a@0 b@32 param 4[8] result 4[8]
// clang: 8/4 a@0 b@32 param 4[8] result 2[8]
struct S61 { E a[1] __attribute__((packed)); unsigned long : 0; };
// nvcc: 8/1 a@0 param 1[8] result 1[8]
// clang: 8/1 a@0 param 4[8] result 4[8]
struct S62 { short a; S26 b; unsigned short c : 14 __attribute__((aligned(64))); };
// nvcc: 128/64 a@0 b@64 b.a@64:3 b.b@67:12 b.c@80:8 b.d@88:7 b.e@96 c@512:14 param 64[128] result 64[128]
// clang: 128/64 a@0 b@64 b.a@64:3 b.b@67:12 b.c@80:8 b.d@88:7 b.e@96 c@512:14 param 64[128] result 4[128]
struct S63 { long a : 21; };
// nvcc: 8/8 a@0:21 param 8[8] result 8[8]
// clang: 8/8 a@0:21 param 8[8] result 4[8]
struct S64 { };
// both: 1/1 param 1[1] result 1[1]
struct __attribute__((aligned(1))) S65 { E8 a : 4; float b; ulonglong4 c[3][1]; };
// nvcc: 112/16 a@0:4 b@32 c@128 param 16[112] result 16[112]
// clang: 112/16 a@0:4 b@32 c@128 param 16[112] result 8[112]
struct S66 { bool a[3][2] __attribute__((packed)); long long b; long long c[4] __attribute__((aligned(4))); unsigned int d : 30; long e __attribute__((aligned(16))); };
// nvcc: 80/16 a@0 b@64 c@128 d@384:30 e@512 param 16[80] result 16[80]
// clang: 80/16 a@0 b@64 c@128 d@384:30 e@512 param 16[80] result 8[80]
struct __attribute__((packed)) __attribute__((aligned(2))) S67 { bool a : 1 __attribute__((aligned(2))); };
// nvcc: 2/2 a@0:1 param 2[2] result 2[2]
// clang: 2/2 a@0:1 param 2[2] result 1[2]
union S68 { int a : 16; longlong2 b; int c; };
// nvcc: 16/16 a@0:16 b@0 c@0 param 16[16] result 16[16]
// clang: 16/16 a@0:16 b@0 c@0 param 16[16] result 8[16]
struct S69 { ulong3 a; unsigned int b : 7; int c : 2; };
// both: 32/8 a@0 b@192:7 c@199:2 param 8[32] result 8[32]
union __attribute__((packed)) S70 { unsigned long a : 25; E64 b : 2; S41 c; short2 d; };
// nvcc: 64/1 a@0:25 b@0:2 c@0 c.a@0 c.b@128:41 c.c@192 c.d@384:27 d@0 param 1[64] result 1[64]
// clang: 64/1 a@0:25 b@0:2 c@0 c.a@0 c.b@128:41 c.c@192 c.d@384:27 d@0 param 8[64] result 8[64]
struct S71 { ushort2 a[2][2]; int2 b[4]; int c[4] __attribute__((aligned(4))); };
// nvcc: 64/8 a@0 b@128 c@384 param 8[64] result 8[64]
// clang: 64/8 a@0 b@128 c@384 param 8[64] result 4[64]
struct S72 { S40 a; unsigned __int128 b __attribute__((aligned(32))); struct __attribute__((packed)) __attribute__((aligned(64))) { long c : 40; }; };
// nvcc: 128/64 a@0 a.a@3:10 a.b@64 a.c@128:7 a.d@192 b@256 c@512:40 param 64[128] result 64[128]
// clang: 128/64 a@0 a.a@3:10 a.b@64 a.c@128:7 a.d@192 b@256 c@512:40 param 64[128] result 16[128]
struct __attribute__((packed)) S73 { int * a[3][1]; longlong3 b[2][1]; S48 c __attribute__((packed)); float2 d; S10 e; double f; };
// nvcc: 128/1 a@0 b@192 c@576 c.a@576 c.b@576:3 c.c@576:4 d@640 e@704 e.a@704 e.b@896:3 f@960 param 1[128] result 1[128]
// clang: 128/1 a@0 b@192 c@576 c.a@576 c.b@576:3 c.c@576:4 d@640 e@704 e.a@704 e.b@896:3 f@960 param 8[128] result 8[128]
struct S74 { unsigned int a : 7; S61 b; struct __attribute__((packed)) { S71 c; unsigned char d[3]; short e : 6; unsigned char f; E g[2][1]; }; signed char : 0; uint64_t h; };
// nvcc: 96/8 a@0:7 b@8 b.a@8 c@72 c.a@72 c.b@200 c.c@456 d@584 e@608:6 f@616 g@624 h@704 param 8[96] result 8[96]
// clang: 96/8 a@0:7 b@8 b.a@8 c@72 c.a@72 c.b@200 c.c@456 d@584 e@608:6 f@616 g@624 h@704 param 8[96] result 1[96]
struct S75 { signed char a : 2; S41 b; int c : 3; long d : 5; };
// nvcc: 96/16 a@0:2 b@128 b.a@128 b.b@256:41 b.c@320 b.d@512:27 c@640:3 d@643:5 param 16[96] result 16[96]
// clang: 96/16 a@0:2 b@128 b.a@128 b.b@256:41 b.c@320 b.d@512:27 c@640:3 d@643:5 param 16[96] result 8[96]
struct S76 { unsigned int : 0; bool a : 1; unsigned int b[2]; };
// both: 12/4 a@0:1 b@32 param 4[12] result 4[12]
struct S77 { uint3 a; S41 b; int c : 23; unsigned long : 13 __attribute__((packed)); unsigned int : 0; uint16_t : 12; };
// nvcc: 96/16 a@0 b@128 b.a@128 b.b@256:41 b.c@320 b.d@512:27 c@640:23 param 16[96] result 16[96]
// clang: 96/16 a@0 b@128 b.a@128 b.b@256:41 b.c@320 b.d@512:27 c@640:23 param 16[96] result 8[96]
struct S78 { unsigned long long a : 64; long long b[4]; unsigned int c : 30; long long d : 30; struct { int e : 30; }; unsigned short f : 1 __attribute__((packed)); };
// both: 56/8 a@0:64 b@64 c@320:30 d@350:30 e@384:30 f@416:1 param 8[56] result 8[56]
struct S79 { struct { int a : 29; unsigned char b : 4; signed char c : 7; int d : 32; union { struct { signed char e : 3; char f; unsigned long : 46; size_t g __attribute__((packed)); long h; unsigned long long : 29; }; S67 i __attribute__((aligned(1))); long long j; }; }; bool : 1; struct { short k; }; unsigned char l; };
// both: 56/8 a@0:29 b@32:4 c@40:7 d@64:32 e@128:3 f@136 g@192 h@256 i@128 i.a@128:1 j@128 k@400 l@416 param 8[56] result 8[56]
struct S80 { bool a[4]; S58 b; E64 c; longlong3 d; };
// nvcc: 192/64 a@0 b@512 b.a@608 b.b@640 b.b.a@640 b.b.a.a@640:6 b.b.a.b@648 b.b.a.c@712:5 b.b.a.d@717:10 b.b.a.e@768 b.b.b@832:16 b.b.c@848:15 b.b.d@864:25 c@1024 d@1088 param 64[192] result 64[192]
// clang: 192/64 a@0 b@512 b.a@608 b.b@640 b.b.a@640 b.b.a.a@640:6 b.b.a.b@648 b.b.a.c@712:5 b.b.a.d@717:10 b.b.a.e@768 b.b.b@832:16 b.b.c@848:15 b.b.d@864:25 c@1024 d@1088 param 64[192] result 8[192]
struct S81 { struct __attribute__((packed)) { S17 a; }; long b : 58 __attribute__((aligned(16))); };
// nvcc: 80/16 a@0 a.a@0 a.b@8 a.c@136 a.c.a@136 a.c.b@144:1 a.d@152 b@512:58 param 16[80] result 16[80]
// clang: 80/16 a@0 a.a@0 a.b@8 a.c@136 a.c.a@136 a.c.b@144:1 a.d@152 b@512:58 param 16[80] result 8[80]
union S82 { signed char a : 1 __attribute__((aligned(64))); unsigned __int128 b __attribute__((packed)); unsigned char c : 6; S11 d; unsigned char : 8; S27 e; };
// nvcc: 64/64 a@0:1 b@0 c@0:6 d@0 e@0 e.a@0 e.b@128 e.c@256 e.d@384:21 e.e@408 e.e.a@408:6 param 64[64] result 64[64]
// clang: 64/64 a@0:1 b@0 c@0:6 d@0 e@0 e.a@0 e.b@128 e.c@256 e.d@384:21 e.e@408 e.e.a@408:6 param 64[64] result 16[64]
union S83 { uint16_t a : 11; unsigned int : 13; unsigned char b; };
// both: 2/2 a@0:11 b@0 param 2[2] result 2[2]
struct S84 { unsigned int a : 2; E32 : 8; };
// nvcc: 4/4 a@0:2 param 4[4] result 4[4]
// clang: 4/4 a@0:2 param 4[4] result 2[4]
struct S85 { union { long : 39; E64 : 51; unsigned short a : 11; }; float1 b; uchar3 c; long * d; };
// both: 24/8 a@0:11 b@64 c@96 d@128 param 8[24] result 8[24]
union S86 { char a; float b; ushort3 c[3][1]; char d; signed char e : 3; int f : 20; };
// both: 20/4 a@0 b@0 c@0 d@0 e@0:3 f@0:20 param 4[20] result 4[20]
struct S87 { short a; long long b : 52; S79 c __attribute__((aligned(8))); long long d : 16; double e; };
// both: 88/8 a@0 b@64:52 c@128 c.a@128:29 c.b@160:4 c.c@168:7 c.d@192:32 c.e@256:3 c.f@264 c.g@320 c.h@384 c.i@256 c.i.a@256:1 c.j@256 c.k@528 c.l@544 d@576:16 e@640 param 8[88] result 8[88]
struct S88 { S74 a; };
// nvcc: 96/8 a@0 a.a@0:7 a.b@8 a.b.a@8 a.c@72 a.c.a@72 a.c.b@200 a.c.c@456 a.d@584 a.e@608:6 a.f@616 a.g@624 a.h@704 param 8[96] result 8[96]
// clang: 96/8 a@0 a.a@0:7 a.b@8 a.b.a@8 a.c@72 a.c.a@72 a.c.b@200 a.c.c@456 a.d@584 a.e@608:6 a.f@616 a.g@624 a.h@704 param 8[96] result 1[96]
struct __attribute__((packed)) S89 { struct { E32 a : 15; long long : 20; unsigned long long : 10; unsigned int b : 21; unsigned int c __attribute__((aligned(2))); }; float4 d __attribute__((packed)); unsigned char e : 3; short f : 12; };
// both: 34/1 a@0:15 b@64:21 c@96 d@128 e@256:3 f@259:12 param 1[34] result 1[34]
struct S90 { float a[1]; struct __attribute__((aligned(4))) { unsigned short b : 7; }; E32 : 30; short c : 9; short3 d[1]; };
// both: 20/4 a@0 b@32:7 c@96:9 d@112 param 4[20] result 4[20]
struct S91 { unsigned int a : 1; int8_t b; };
// nvcc: 4/4 a@0:1 b@8 param 4[4] result 4[4]
// clang: 4/4 a@0:1 b@8 param 4[4] result 1[4]
struct __attribute__((aligned(1))) S92 { unsigned int : 26; unsigned int a : 1; unsigned long long b : 1; };
// nvcc: 8/8 a@26:1 b@27:1 param 8[8] result 8[8]
// clang: 8/8 a@26:1 b@27:1 param 8[8] result 4[8]
struct S93 { union __attribute__((aligned(1))) { unsigned int a : 1 __attribute__((aligned(64))); }; long1 b; };
// nvcc: 128/64 a@0:1 b@512 param 64[128] result 64[128]
// clang: 128/64 a@0:1 b@512 param 64[128] result 8[128]
struct S94 { unsigned int a : 25; bool b : 1; long long c __attribute__((aligned(1))); long long d : 34; };
// both: 24/8 a@0:25 b@25:1 c@64 d@128:34 param 8[24] result 8[24]
union __attribute__((packed)) S95 { ushort3 a; S94 b; unsigned long long : 35 __attribute__((packed)); char c; unsigned char d : 4; ulonglong1 e; };
// nvcc: 24/1 a@0 b@0 b.a@0:25 b.b@25:1 b.c@64 b.d@128:34 c@0 d@0:4 e@0 param 1[24] result 1[24]
// clang: 24/1 a@0 b@0 b.a@0:25 b.b@25:1 b.c@64 b.d@128:34 c@0 d@0:4 e@0 param 8[24] result 8[24]
struct S96 { int a : 29 __attribute__((packed)); signed char b : 1; ushort2 c; };
// both: 8/4 a@0:29 b@29:1 c@32 param 4[8] result 4[8]
struct S97 { };
// both: 1/1 param 1[1] result 1[1]
union S98 { long long a : 4 __attribute__((aligned(64))); char b : 4; ulonglong4 c; long4 d; };
// nvcc: 64/64 a@0:4 b@0:4 c@0 d@0 param 64[64] result 64[64]
// clang: 64/64 a@0:4 b@0:4 c@0 d@0 param 64[64] result 8[64]
union __attribute__((packed)) S99 { uint64_t a; uint16_t b : 8; };
// nvcc: 8/1 a@0 b@0:8 param 1[8] result 1[8]
// clang: 8/1 a@0 b@0:8 param 8[8] result 8[8]
struct __attribute__((aligned(2))) S100 { char a; bool b : 1; long long c[2][1]; };
// both: 24/8 a@0 b@8:1 c@64 param 8[24] result 8[24]
struct S101 { unsigned short a : 4 __attribute__((packed)); };
// both: 1/1 a@0:4 param 1[1] result 1[1]
union S102 { signed char a : 3; E32 b : 1 __attribute__((packed)); int * c; long d : 23; int2 e; };
// both: 8/8 a@0:3 b@0:1 c@0 d@0:23 e@0 param 8[8] result 8[8]
struct S103 { long1 a; uint16_t b : 6; unsigned short c : 8; unsigned int d : 28; unsigned long e : 35; };
// both: 24/8 a@0 b@64:6 c@70:8 d@96:28 e@128:35 param 8[24] result 8[24]
struct S104 { long long a; };
// both: 8/8 a@0 param 8[8] result 8[8]
struct __attribute__((packed)) S105 { S26 a[1]; unsigned char b : 5; };
// both: 9/1 a@0 a[0].a@0:3 a[0].b@3:12 a[0].c@16:8 a[0].d@24:7 a[0].e@32 b@64:5 param 1[9] result 1[9]
struct S106 { short a : 4; unsigned short b : 7; int c : 32; unsigned char d; E64 e : 21; };
// both: 16/8 a@0:4 b@4:7 c@32:32 d@64 e@72:21 param 8[16] result 8[16]
struct S107 { E8 a : 1; };
// both: 1/1 a@0:1 param 1[1] result 1[1]
struct S108 { unsigned char a : 6; ulong2 b[4]; long c; long d : 15 __attribute__((aligned(8))); S26 e[2]; };
// nvcc: 112/16 a@0:6 b@128 c@640 d@704:15 e@768 e[0].a@768:3 e[0].b@771:12 e[0].c@784:8 e[0].d@792:7 e[0].e@800 param 16[112] result 16[112]
// clang: 112/16 a@0:6 b@128 c@640 d@704:15 e@768 e[0].a@768:3 e[0].b@771:12 e[0].c@784:8 e[0].d@792:7 e[0].e@800 param 16[112] result 8[112]
struct S109 { bool a : 1; long1 b; long c : 20; S30 d; union { long long : 63; char e; S59 f; unsigned long g : 60; }; unsigned int h : 19; };
// nvcc: 192/64 a@0:1 b@64 c@128:20 d@192 d.a@192 d.b@200:39 e@512 f@512 f.a@512:2 f.b@576 f.c@640 g@512:60 h@1024:19 param 64[192] result 64[192]
// clang: 192/64 a@0:1 b@64 c@128:20 d@192 d.a@192 d.b@200:39 e@512 f@512 f.a@512:2 f.b@576 f.c@640 g@512:60 h@1024:19 param 64[192] result 8[192]
struct __attribute__((packed)) S110 { char a; struct { int b : 13; E8 c __attribute__((packed)); E64 d; long e : 16; int f; uchar1 g; }; };
// both: 33/1 a@0 b@8:13 c@24 d@72 e@136:16 f@168 g@200 param 1[33] result 1[33]
struct S111 { short a; unsigned short b : 11; long * c; longlong4 d __attribute__((aligned(32))); };
// nvcc: 64/32 a@0 b@16:11 c@64 d@256 param 32[64] result 32[64]
// clang: 64/32 a@0 b@16:11 c@64 d@256 param 32[64] result 8[64]
struct __attribute__((aligned(8))) S112 { ulong4 a; unsigned char b : 1; S28 c; float2 d; };
// nvcc: 48/16 a@0 b@256:1 c@288 c.a@288 c.b@288 c.c@288:4 c.d@288 d@320 param 16[48] result 16[48]
// clang: 48/16 a@0 b@256:1 c@288 c.a@288 c.b@288 c.c@288:4 c.d@288 d@320 param 16[48] result 8[48]
struct __attribute__((packed)) S113 { long a; unsigned char b; S37 c; };
// both: 33/1 a@0 b@64 c@72 c.a@72 c.a.a@72 c.a.b@136:9 c.a.c@168 c.b@200 param 1[33] result 1[33]
union __attribute__((packed)) S114 { char * a[4]; int b : 32; uint16_t : 1; float c; };
// nvcc: 32/1 a@0 b@0:32 c@0 param 1[32] result 1[32]
// clang: 32/1 a@0 b@0:32 c@0 param 8[32] result 8[32]
struct S115 { E64 a : 64; };
// both: 8/8 a@0:64 param 8[8] result 8[8]
struct __attribute__((packed)) S116 { short a : 12; unsigned short b : 13 __attribute__((aligned(16))); E64 : 1; uint16_t c : 14; unsigned char d : 8; unsigned int e : 2; };
// nvcc: 32/16 a@0:12 b@128:13 c@142:14 d@156:8 e@164:2 param 16[32] result 16[32]
// clang: 32/16 a@0:12 b@128:13 c@142:14 d@156:8 e@164:2 param 16[32] result 8[32]
struct __attribute__((packed)) S117 { unsigned int : 21; uint64_t a; char b; unsigned int c : 28; unsigned short d : 16 __attribute__((aligned(64))); };
// nvcc: 128/64 a@24 b@88 c@96:28 d@512:16 param 64[128] result 64[128]
// clang: 128/64 a@24 b@88 c@96:28 d@512:16 param 64[128] result 1[128]
struct S118 { S39 a[3]; unsigned int b : 14; };
// both: 440/8 a@0 a[0].a@0:10 a[0].b@0:8 a[0].c@0 a[0].d@0 a[0].e@0 a[0].e[0][0].a@0 a[0].e[0][0].a.a@0 a[0].e[0][0].a.b@64:9 a[0].e[0][0].a.c@96 a[0].e[0][0].b@128 a[0].f@0:8 b@3456:14 param 8[440] result 8[440]
struct S119 { E64 : 50; S40 a; struct { bool b; }; int c; uchar4 d; };
// both: 56/8 a@64 a.a@67:10 a.b@128 a.c@192:7 a.d@256 b@320 c@352 d@384 param 8[56] result 8[56]
struct S120 { long long a : 11; unsigned long b : 49; };
// both: 8/8 a@0:11 b@11:49 param 8[8] result 8[8]
struct S121 { E32 a : 7; ulong1 b; unsigned int c : 2; E16 d : 8; union { unsigned long e : 58; int f : 10; }; };
// both: 32/8 a@0:7 b@64 c@128:2 d@130:8 e@192:58 f@192:10 param 8[32] result 8[32]
union S122 { long long a; char b; E64 c : 52; unsigned int d[1]; long long e : 52; double f; };
// both: 8/8 a@0 b@0 c@0:52 d@0 e@0:52 f@0 param 8[8] result 8[8]
struct __attribute__((aligned(32))) S123 { signed char a : 3; };
// nvcc: 32/32 a@0:3 param 32[32] result 32[32]
// clang: 32/32 a@0:3 param 32[32] result 1[32]
struct S124 { short a : 3; uint2 b; unsigned __int128 c; };
// both: 32/16 a@0:3 b@64 c@128 param 16[32] result 16[32]
struct S125 { double4 a; unsigned int b : 5; struct __attribute__((aligned(64))) { uint16_t c : 4; char d : 1; }; };
// nvcc: 128/64 a@0 b@256:5 c@512:4 d@516:1 param 64[128] result 64[128]
// clang: 128/64 a@0 b@256:5 c@512:4 d@516:1 param 64[128] result 8[128]
union S126 { struct { signed char a : 3 __attribute__((packed)); struct { S81 b; longlong4 c __attribute__((aligned(32))); S76 d; }; long long e : 12; }; unsigned char f : 5; char g; double h; };
// nvcc: 224/32 a@0:3 b@256 b.a@256 b.a.a@256 b.a.b@264 b.a.c@392 b.a.c.a@392 b.a.c.b@400:1 b.a.d@408 b.b@768:58 c@1024 d@1280 d.a@1280:1 d.b@1312 e@1536:12 f@0:5 g@0 h@0 param 32[224] result 32[224]
// clang: 224/32 a@0:3 b@256 b.a@256 b.a.a@256 b.a.b@264 b.a.c@392 b.a.c.a@392 b.a.c.b@400:1 b.a.d@408 b.b@768:58 c@1024 d@1280 d.a@1280:1 d.b@1312 e@1536:12 f@0:5 g@0 h@0 param 32[224] result 8[224]
struct S127 { unsigned long long a : 47; unsigned int : 18; };
// both: 16/8 a@0:47 param 8[16] result 8[16]
struct __attribute__((packed)) S128 { struct { size_t a[3]; S96 b; unsigned __int128 c; }; };
// nvcc: 48/1 a@0 b@192 b.a@192:29 b.b@221:1 b.c@224 c@256 param 1[48] result 1[48]
// clang: 48/1 a@0 b@192 b.a@192:29 b.b@221:1 b.c@224 c@256 param 16[48] result 16[48]
struct S129 { unsigned long a : 55; };
// both: 8/8 a@0:55 param 8[8] result 8[8]
struct S130 { S116 a; size_t b __attribute__((packed)); unsigned int c : 18; uint16_t : 16; long long d : 63; };
// nvcc: 64/16 a@0 a.a@0:12 a.b@128:13 a.c@142:14 a.d@156:8 a.e@164:2 b@256 c@320:18 d@384:63 param 16[64] result 16[64]
// clang: 64/16 a@0 a.a@0:12 a.b@128:13 a.c@142:14 a.d@156:8 a.e@164:2 b@256 c@320:18 d@384:63 param 16[64] result 8[64]
union S131 { E64 a : 40; char b : 1; bool c __attribute__((packed)); char d; short e : 7 __attribute__((aligned(64))); unsigned short f : 1; };
// nvcc: 64/64 a@0:40 b@0:1 c@0 d@0 e@0:7 f@0:1 param 64[64] result 64[64]
// clang: 64/64 a@0:40 b@0:1 c@0 d@0 e@0:7 f@0:1 param 64[64] result 8[64]
struct S132 { bool a : 1; unsigned int b : 31; signed char c : 6; uchar4 d __attribute__((aligned(16))); char e : 2; unsigned long long f : 47; };
// nvcc: 32/16 a@0:1 b@1:31 c@32:6 d@128 e@160:2 f@192:47 param 16[32] result 16[32]
// clang: 32/16 a@0:1 b@1:31 c@32:6 d@128 e@160:2 f@192:47 param 16[32] result 8[32]
struct S133 { unsigned int a __attribute__((aligned(2))); unsigned int b; unsigned long long c : 62; };
// both: 16/8 a@0 b@32 c@64:62 param 8[16] result 8[16]
struct __attribute__((packed)) S134 { char a; char b : 6 __attribute__((aligned(8))); };
// nvcc: 16/8 a@0 b@64:6 param 8[16] result 8[16]
// clang: 16/8 a@0 b@64:6 param 8[16] result 1[16]
struct S135 { unsigned short a : 8; };
// nvcc: 2/2 a@0:8 param 2[2] result 2[2]
// clang: 2/2 a@0:8 param 2[2] result 1[2]
struct S136 { char : 0; };
// both: 1/1 param 1[1] result 1[1]
struct S137 { long long a : 10; long : 0; };
// nvcc: 8/8 a@0:10 param 8[8] result 8[8]
// clang: 8/8 a@0:10 param 8[8] result 2[8]
union S138 { double a[2]; S125 b; float * c; unsigned short d : 12 __attribute__((aligned(64))); ulong2 e; unsigned char f : 4; };
// nvcc: 128/64 a@0 b@0 b.a@0 b.b@256:5 b.c@512:4 b.d@516:1 c@0 d@0:12 e@0 f@0:4 param 64[128] result 64[128]
// clang: 128/64 a@0 b@0 b.a@0 b.b@256:5 b.c@512:4 b.d@516:1 c@0 d@0:12 e@0 f@0:4 param 64[128] result 8[128]
struct S139 { struct { float a; }; int b : 7 __attribute__((aligned(4))); S10 c; unsigned int d : 4; };
// both: 48/8 a@0 b@32:7 c@64 c.a@64 c.b@256:3 d@320:4 param 8[48] result 8[48]
struct S140 { unsigned int a : 21; struct { uint64_t b; unsigned char c : 5; size_t d; float4 e[3] __attribute__((aligned(8))); bool f : 1 __attribute__((aligned(1))); unsigned char g : 5; }; struct { union { long long h : 12; long long i[3] __attribute__((aligned(32))); }; double j; unsigned long long k : 4; }; unsigned short l : 14; unsigned int m : 17; long long : 0; };
// nvcc: 224/32 a@0:21 b@128 c@192:5 d@256 e@384 f@768:1 g@769:5 h@1024:12 i@1024 j@1280 k@1344:4 l@1536:14 m@1550:17 param 32[224] result 32[224]
// clang: 224/32 a@0:21 b@128 c@192:5 d@256 e@384 f@768:1 g@769:5 h@1024:12 i@1024 j@1280 k@1344:4 l@1536:14 m@1550:17 param 32[224] result 8[224]
union __attribute__((aligned(8))) S141 { unsigned int a : 6; char1 b[4]; int c[2]; };
// nvcc: 8/8 a@0:6 b@0 c@0 param 8[8] result 8[8]
// clang: 8/8 a@0:6 b@0 c@0 param 8[8] result 4[8]
struct __attribute__((packed)) S142 { unsigned int a : 29; char b : 7; int c : 19; signed char d : 6; S80 e __attribute__((packed)); };
// nvcc: 200/1 a@0:29 b@29:7 c@36:19 d@55:6 e@64 e.a@64 e.b@576 e.b.a@672 e.b.b@704 e.b.b.a@704 e.b.b.a.a@704:6 e.b.b.a.b@712 e.b.b.a.c@776:5 e.b.b.a.d@781:10 e.b.b.a.e@832 e.b.b.b@896:16 e.b.b.c@912:15 e.b.b.d@928:25 e.c@1088 e.d@1152 param 4[200] result 1[200]
// clang: 200/1 a@0:29 b@29:7 c@36:19 d@55:6 e@64 e.a@64 e.b@576 e.b.a@672 e.b.b@704 e.b.b.a@704 e.b.b.a.a@704:6 e.b.b.a.b@712 e.b.b.a.c@776:5 e.b.b.a.d@781:10 e.b.b.a.e@832 e.b.b.b@896:16 e.b.b.c@912:15 e.b.b.d@928:25 e.c@1088 e.d@1152 param 8[200] result 8[200]
struct S143 { E16 a : 1; long b : 20 __attribute__((aligned(8))); S132 c; };
// nvcc: 48/16 a@0:1 b@64:20 c@128 c.a@128:1 c.b@129:31 c.c@160:6 c.d@256 c.e@288:2 c.f@320:47 param 16[48] result 16[48]
// clang: 48/16 a@0:1 b@64:20 c@128 c.a@128:1 c.b@129:31 c.c@160:6 c.d@256 c.e@288:2 c.f@320:47 param 16[48] result 8[48]
union S144 { long long a; long long b : 27 __attribute__((packed)); E8 c : 2; uchar3 d; uint2 e __attribute__((packed)); };
// both: 8/8 a@0 b@0:27 c@0:2 d@0 e@0 param 8[8] result 8[8]
struct S145 { long a; int b : 9; S143 c; struct { ushort3 d[4]; }; unsigned __int128 e[3]; };
// both: 144/16 a@0 b@64:9 c@128 c.a@128:1 c.b@192:20 c.c@256 c.c.a@256:1 c.c.b@257:31 c.c.c@288:6 c.c.d@384 c.c.e@416:2 c.c.f@448:47 d@512 e@768 param 16[144] result 16[144]
union S146 { unsigned long a : 13; E16 b : 4; unsigned long c : 41 __attribute__((packed)); uint64_t d; S20 e; };
// nvcc: 64/64 a@0:13 b@0:4 c@0:41 d@0 e@0 e.a@0:8 e.b@0:12 e.c@0:24 e.d@0:8 param 64[64] result 64[64]
// clang: 64/64 a@0:13 b@0:4 c@0:41 d@0 e@0 e.a@0:8 e.b@0:12 e.c@0:24 e.d@0:8 param 64[64] result 8[64]
struct S147 { };
// both: 1/1 param 1[1] result 1[1]
struct S148 { uint16_t a : 14; struct { signed char : 0; long long : 0; int b : 10; bool c : 1 __attribute__((packed)); float4 d; }; float3 e __attribute__((aligned(4))); };
// nvcc: 64/16 a@0:14 b@128:10 c@138:1 d@256 e@384 param 16[64] result 16[64]
// clang: 64/16 a@0:14 b@128:10 c@138:1 d@256 e@384 param 16[64] result 4[64]
struct S149 { bool a : 1; union { int : 32; size_t b; char c; }; char d; };
// both: 24/8 a@0:1 b@64 c@64 d@128 param 8[24] result 8[24]
union S150 { short a : 5; double b; S24 c; short d : 7; };
// nvcc: 128/16 a@0:5 b@0 c@0 c.a@0 c.b@256:26 c.c@384 c.c.a@384 c.c.a.a@384 c.c.b@384 c.c.c@384 c.d@512 c.e@768:3 c.f@771:1 c.g@832 d@0:7 param 16[128] result 16[128]
// clang: 128/16 a@0:5 b@0 c@0 c.a@0 c.b@256:26 c.c@384 c.c.a@384 c.c.a.a@384 c.c.b@384 c.c.c@384 c.d@512 c.e@768:3 c.f@771:1 c.g@832 d@0:7 param 16[128] result 8[128]
struct S151 { unsigned short a : 11; };
// both: 2/2 a@0:11 param 2[2] result 2[2]
union __attribute__((packed)) __attribute__((aligned(16))) S152 { unsigned long a : 55; E8 b : 7; };
// nvcc: 16/16 a@0:55 b@0:7 param 16[16] result 16[16]
// clang: 16/16 a@0:55 b@0:7 param 16[16] result 8[16]
struct S153 { long a : 62; int b[2]; };
// both: 16/8 a@0:62 b@64 param 8[16] result 8[16]
union S154 { S137 a[2] __attribute__((packed)); ulong4 b; unsigned long long c : 19; double2 d; float e; };
// nvcc: 32/16 a@0 a[0].a@0:10 b@0 c@0:19 d@0 e@0 param 16[32] result 16[32]
// clang: 32/16 a@0 a[0].a@0:10 b@0 c@0:19 d@0 e@0 param 16[32] result 8[32]
union S155 { uint64_t a; int b : 1; int8_t c; };
// both: 8/8 a@0 b@0:1 c@0 param 8[8] result 8[8]
union S156 { S50 a; double b; char c; char d : 4; float3 e; };
// both: 16/8 a@0 a.a@0:10 a.b@0:39 a.c@0 a.d@0 a.e@0:8 b@0 c@0 d@0:4 e@0 param 8[16] result 8[16]
struct S157 { long long : 54; E64 a[4]; int b : 32; };
// both: 48/8 a@64 b@320:32 param 8[48] result 8[48]
struct S158 { bool a : 1; };
// both: 1/1 a@0:1 param 1[1] result 1[1]
struct S159 { uchar3 a; uint64_t b; unsigned long long c : 59; int d[3]; };
// both: 40/8 a@0 b@64 c@128:59 d@192 param 8[40] result 8[40]
struct S160 { uint2 a; unsigned int b; short c; struct __attribute__((aligned(16))) { E16 : 16; long d : 36; short e __attribute__((aligned(2))); }; };
// nvcc: 32/16 a@0 b@64 c@96 d@144:36 e@192 param 16[32] result 16[32]
// clang: 32/16 a@0 b@64 c@96 d@144:36 e@192 param 16[32] result 8[32]
struct S161 { double * a; unsigned long long b : 50; int c; int8_t d; size_t e; };
// both: 32/8 a@0 b@64:50 c@128 d@160 e@192 param 8[32] result 8[32]
struct S162 { bool a : 1; struct { long b : 54; short4 c; int : 0; unsigned __int128 d __attribute__((aligned(1))); unsigned __int128 e; int : 0; }; uint1 f; S161 g; };
// both: 112/16 a@0:1 b@128:54 c@192 d@256 e@384 f@512 g@576 g.a@576 g.b@640:50 g.c@704 g.d@736 g.e@768 param 16[112] result 16[112]
struct S163 { long long a : 18; };
// nvcc: 8/8 a@0:18 param 8[8] result 8[8]
// clang: 8/8 a@0:18 param 8[8] result 4[8]
struct S164 { long long a : 2; unsigned int b : 11; S158 c; bool d : 1; S54 e[1]; };
// nvcc: 8/8 a@0:2 b@2:11 c@16 c.a@16:1 d@24:1 e@32 e[0].a@32:17 e[0].b@49:2 param 8[8] result 8[8]
// clang: 8/8 a@0:2 b@2:11 c@16 c.a@16:1 d@24:1 e@32 e[0].a@32:17 e[0].b@49:2 param 8[8] result 4[8]
struct S165 { E16 a : 2; uint16_t b : 7; unsigned short c : 11 __attribute__((packed)); };
// nvcc: 4/2 a@0:2 b@2:7 c@9:11 param 2[4] result 2[4]
// clang: 4/2 a@0:2 b@2:7 c@9:11 param 2[4] result 1[4]
struct S166 { long a : 27; unsigned char b : 3; long long c[2]; struct { short d; }; unsigned char : 8; unsigned short e : 9 __attribute__((packed)); };
// nvcc: 32/8 a@0:27 b@27:3 c@64 d@192 e@216:9 param 8[32] result 8[32]
// clang: 32/8 a@0:27 b@27:3 c@64 d@192 e@216:9 param 8[32] result 1[32]
struct S167 { short a : 8; E16 b : 13; int : 17; long c : 29; E32 d; };
// both: 16/8 a@0:8 b@16:13 c@64:29 d@96 param 8[16] result 8[16]
struct S168 { long : 61; size_t a; };
// both: 16/8 a@64 param 8[16] result 8[16]
struct S169 { longlong3 a; char4 b; E8 c : 7; S3 d; int e : 5 __attribute__((aligned(64))); int f : 19; };
// nvcc: 192/64 a@0 b@192 c@224:7 d@256 d.a@256 d.b@320 e@1024:5 f@1029:19 param 64[192] result 64[192]
// clang: 192/64 a@0 b@192 c@224:7 d@256 d.a@256 d.b@320 e@1024:5 f@1029:19 param 64[192] result 8[192]
union S170 { S39 a; int8_t b; double1 c; E8 d : 2; int8_t e; };
// both: 144/8 a@0 a.a@0:10 a.b@0:8 a.c@0 a.d@0 a.e@0 a.e[0][0].a@0 a.e[0][0].a.a@0 a.e[0][0].a.b@64:9 a.e[0][0].a.c@96 a.e[0][0].b@128 a.f@0:8 b@0 c@0 d@0:2 e@0 param 8[144] result 8[144]
union __attribute__((packed)) S171 { unsigned int a : 25; };
// nvcc: 4/1 a@0:25 param 1[4] result 1[4]
// clang: 4/1 a@0:25 param 4[4] result 4[4]
union S172 { bool a : 1; char b; unsigned char c; char d __attribute__((packed)); };
// both: 1/1 a@0:1 b@0 c@0 d@0 param 1[1] result 1[1]
union __attribute__((packed)) __attribute__((aligned(128))) S173 { unsigned long long a : 33; signed char b : 8; unsigned short c : 9; };
// nvcc: 128/128 a@0:33 b@0:8 c@0:9 param 128[128] result 128[128]
// clang: 128/128 a@0:33 b@0:8 c@0:9 param 128[128] result 8[128]
struct __attribute__((packed)) S174 { long long a : 51; float1 b; long c __attribute__((packed)); short : 1; ulonglong3 d[1]; };
// both: 44/1 a@0:51 b@56 c@88 d@160 param 1[44] result 1[44]
struct S175 { char a : 1; };
// both: 1/1 a@0:1 param 1[1] result 1[1]
struct S176 { double1 a __attribute__((packed)); bool b __attribute__((aligned(32))); char c : 7; };
// nvcc: 64/32 a@0 b@256 c@264:7 param 32[64] result 32[64]
// clang: 64/32 a@0 b@256 c@264:7 param 32[64] result 8[64]
struct S177 { unsigned long long : 2; int a : 4; long : 46; float b; unsigned __int128 c; struct { S104 d; uint64_t e; uint16_t f : 11; unsigned int g : 4; short h; unsigned char i : 1 __attribute__((aligned(2))); }; };
// both: 64/16 a@2:4 b@64 c@128 d@256 d.a@256 e@320 f@384:11 g@395:4 h@400 i@416:1 param 16[64] result 16[64]
struct __attribute__((packed)) __attribute__((aligned(32))) S178 { unsigned long long a : 32 __attribute__((packed)); uint64_t * b; int c : 26; struct { int : 19; bool d; S9 e[3]; signed char : 3; }; float f[3] __attribute__((aligned(16))); };
// nvcc: 64/32 a@0:32 b@32 c@96:26 d@152 e@160 e[0].a@160 e[0].a.a@160 e[0].a.b@160:6 e[0].a.c@160:30 e[0].a.d@160:19 f@384 param 32[64] result 32[64]
// clang: 64/32 a@0:32 b@32 c@96:26 d@152 e@160 e[0].a@160 e[0].a.a@160 e[0].a.b@160:6 e[0].a.c@160:30 e[0].a.d@160:19 f@384 param 32[64] result 1[64]
union __attribute__((packed)) S179 { int a : 13; S5 b; int * c; long d : 21; int e : 20; E8 : 1; };
// nvcc: 16/1 a@0:13 b@0 b.a@0 b.a.a@0 b.b@0 b.c@0 c@0 d@0:21 e@0:20 param 1[16] result 1[16]
// clang: 16/1 a@0:13 b@0 b.a@0 b.a.a@0 b.b@0 b.c@0 c@0 d@0:21 e@0:20 param 8[16] result 8[16]
union S180 { int a __attribute__((aligned(16))); unsigned long long b : 53; E64 c : 50; };
// nvcc: 16/16 a@0 b@0:53 c@0:50 param 16[16] result 16[16]
// clang: 16/16 a@0 b@0:53 c@0:50 param 16[16] result 8[16]
struct S181 { struct { struct { long long a : 18; int b : 22; signed char c : 6; unsigned int d : 12 __attribute__((aligned(32))); unsigned int e; }; unsigned long long f : 17; long long g; unsigned int : 27; unsigned long long h : 23 __attribute__((aligned(16))); unsigned int i : 28 __attribute__((aligned(4))); }; union { S100 j; size_t k; int l : 26; ulonglong4 m; short3 n; long * o; }; size_t p; unsigned short : 8; };
// nvcc: 192/32 a@0:18 b@32:22 c@56:6 d@256:12 e@288 f@512:17 g@576 h@768:23 i@800:28 j@1024 j.a@1024 j.b@1032:1 j.c@1088 k@1024 l@1024:26 m@1024 n@1024 o@1024 p@1280 param 32[192] result 32[192]
// clang: 192/32 a@0:18 b@32:22 c@56:6 d@256:12 e@288 f@512:17 g@576 h@768:23 i@800:28 j@1024 j.a@1024 j.b@1032:1 j.c@1088 k@1024 l@1024:26 m@1024 n@1024 o@1024 p@1280 param 32[192] result 8[192]
struct __attribute__((aligned(16))) S182 { char a : 5; int b; };
// nvcc: 16/16 a@0:5 b@32 param 16[16] result 16[16]
// clang: 16/16 a@0:5 b@32 param 16[16] result 4[16]
struct __attribute__((packed)) S183 { char a : 2; union { bool b __attribute__((packed)); int c; uint64_t d; unsigned long e : 26; uint16_t f : 3; }; };
// both: 9/1 a@0:2 b@8 c@8 d@8 e@8:26 f@8:3 param 1[9] result 1[9]
struct __attribute__((packed)) S184 { E64 a : 39; E8 : 1; unsigned short b : 12; unsigned int c : 31 __attribute__((packed)); };
// both: 11/1 a@0:39 b@40:12 c@52:31 param 1[11] result 1[11]
struct S185 { uint16_t a : 13; E8 b : 5 __attribute__((aligned(32))); union { int : 22; double c; int8_t d; }; signed char e : 4; int8_t f; E16 g : 2; };
// nvcc: 64/32 a@0:13 b@256:5 c@320 d@320 e@384:4 f@392 g@400:2 param 32[64] result 32[64]
// clang: 64/32 a@0:13 b@256:5 c@320 d@320 e@384:4 f@392 g@400:2 param 32[64] result 8[64]
union S186 { union __attribute__((packed)) { unsigned long long a : 53; unsigned long long b : 25; int c : 23; long2 d __attribute__((packed)); char e __attribute__((packed)); }; signed char f : 7; char g : 8; unsigned __int128 h; uint64_t i; };
// both: 16/16 a@0:53 b@0:25 c@0:23 d@0 e@0 f@0:7 g@0:8 h@0 i@0 param 16[16] result 16[16]
struct S187 { struct { bool a; struct { unsigned int : 5; bool b[2][4] __attribute__((aligned(64))); unsigned long long c : 32; }; unsigned char d; unsigned long e : 3 __attribute__((aligned(16))); S22 f; }; size_t g; E8 h : 1 __attribute__((aligned(64))); };
// nvcc: 512/64 a@0 b@1024 c@1088:32 d@1536 e@1664:3 f@2048 f.a@2048 f.b@2048 f.b.a@2048:8 f.b.b@2048:12 f.b.c@2048:24 f.b.d@2048:8 f.c@2048 f.d@2048 f.e@2048:5 g@3072 h@3584:1 param 64[512] result 64[512]
// clang: 512/64 a@0 b@1024 c@1088:32 d@1536 e@1664:3 f@2048 f.a@2048 f.b@2048 f.b.a@2048:8 f.b.b@2048:12 f.b.c@2048:24 f.b.d@2048:8 f.c@2048 f.d@2048 f.e@2048:5 g@3072 h@3584:1 param 64[512] result 8[512]
struct S188 { struct __attribute__((packed)) { unsigned int a : 12 __attribute__((aligned(8))); unsigned long long : 16; unsigned __int128 b; E32 c; }; unsigned int d : 31; S68 e; };
// nvcc: 48/16 a@0:12 b@32 c@160 d@192:31 e@256 e.a@256:16 e.b@256 e.c@256 param 16[48] result 16[48]
// clang: 48/16 a@0:12 b@32 c@160 d@192:31 e@256 e.a@256:16 e.b@256 e.c@256 param 16[48] result 8[48]
struct S189 { int a[2]; unsigned char b : 4; E64 c : 22; bool : 0; double d; unsigned short e : 14; };
// both: 32/8 a@0 b@64:4 c@68:22 d@128 e@192:14 param 8[32] result 8[32]
struct S190 { char a : 1; };
// both: 1/1 a@0:1 param 1[1] result 1[1]
union __attribute__((packed)) S191 { uint64_t a __attribute__((aligned(8))); short : 1; };
// both: 8/8 a@0 param 8[8] result 8[8]
struct S192 { long long a __attribute__((packed)); struct __attribute__((packed)) { int : 1; S120 b; char c : 5; }; float3 d[1][1]; short2 e; };
// nvcc: 36/4 a@0 b@72 b.a@72:11 b.b@83:49 c@136:5 d@160 e@256 param 4[36] result 4[36]
// clang: 36/4 a@0 b@72 b.a@72:11 b.b@83:49 c@136:5 d@160 e@256 param 4[36] result 1[36]
struct __attribute__((aligned(2))) S193 { S108 a; long * b; unsigned char c : 6; E d; uint2 e[2][4]; };
// nvcc: 192/16 a@0 a.a@0:6 a.b@128 a.c@640 a.d@704:15 a.e@768 a.e[0].a@768:3 a.e[0].b@771:12 a.e[0].c@784:8 a.e[0].d@792:7 a.e[0].e@800 b@896 c@960:6 d@992 e@1024 param 16[192] result 16[192]
// clang: 192/16 a@0 a.a@0:6 a.b@128 a.c@640 a.d@704:15 a.e@768 a.e[0].a@768:3 a.e[0].b@771:12 a.e[0].c@784:8 a.e[0].d@792:7 a.e[0].e@800 b@896 c@960:6 d@992 e@1024 param 16[192] result 8[192]
struct S194 { int a; struct { double1 b; uint16_t c : 10; long3 d; float e; }; long f : 35; short g; long h : 56; };
// both: 72/8 a@0 b@64 c@128:10 d@192 e@384 f@448:35 g@496 h@512:56 param 8[72] result 8[72]
struct S195 { char3 a; short b; char c __attribute__((aligned(8))) __attribute__((packed)); unsigned long long d : 60; unsigned long e : 34; };
// both: 32/8 a@0 b@32 c@64 d@128:60 e@192:34 param 8[32] result 8[32]
union __attribute__((aligned(128))) S196 { unsigned long : 63; };
// nvcc: 128/128 param 128[128] result 128[128]
// clang: 128/128 param 128[128] result 8[128]
struct S197 { unsigned __int128 a; unsigned char b : 1; uint16_t c : 12; E8 : 8; };
// both: 32/16 a@0 b@128:1 c@129:12 param 16[32] result 16[32]
struct __attribute__((aligned(32))) S198 { E16 a : 2; S196 b __attribute__((packed)); signed char c : 8; S79 d __attribute__((aligned(4))); unsigned long long e : 15; E16 : 7; };
// nvcc: 224/32 a@0:2 b@8 c@1032:8 d@1088 d.a@1088:29 d.b@1120:4 d.c@1128:7 d.d@1152:32 d.e@1216:3 d.f@1224 d.g@1280 d.h@1344 d.i@1216 d.i.a@1216:1 d.j@1216 d.k@1488 d.l@1504 e@1536:15 param 32[224] result 32[224]
// clang: 224/32 a@0:2 b@8 c@1032:8 d@1088 d.a@1088:29 d.b@1120:4 d.c@1128:7 d.d@1152:32 d.e@1216:3 d.f@1224 d.g@1280 d.h@1344 d.i@1216 d.i.a@1216:1 d.j@1216 d.k@1488 d.l@1504 e@1536:15 param 32[224] result 1[224]
struct S199 { long long a : 15; int b; S180 c; };
// nvcc: 32/16 a@0:15 b@32 c@128 c.a@128 c.b@128:53 c.c@128:50 param 16[32] result 16[32]
// clang: 32/16 a@0:15 b@32 c@128 c.a@128 c.b@128:53 c.c@128:50 param 16[32] result 8[32]
struct S200 { unsigned long long a : 35; };
// both: 8/8 a@0:35 param 8[8] result 8[8]
struct __attribute__((aligned(16))) S201 { unsigned int a : 26; };
// nvcc: 16/16 a@0:26 param 16[16] result 16[16]
// clang: 16/16 a@0:26 param 16[16] result 4[16]
struct S202 { int : 0; uint64_t a[2][1]; };
// both: 16/8 a@0 param 8[16] result 8[16]
struct __attribute__((packed)) S203 { struct { float a; }; signed char b : 2; };
// both: 5/1 a@0 b@32:2 param 1[5] result 1[5]
struct __attribute__((aligned(8))) S204 { bool a : 1; };
// nvcc: 8/8 a@0:1 param 8[8] result 8[8]
// clang: 8/8 a@0:1 param 8[8] result 1[8]
struct S205 { unsigned long long a : 42; };
// both: 8/8 a@0:42 param 8[8] result 8[8]
struct S206 { E32 a[2][3]; };
// both: 24/4 a@0 param 4[24] result 4[24]
struct S207 { short a : 10; int b __attribute__((packed)); unsigned int c : 29; unsigned char d; unsigned short : 10; };
// nvcc: 16/4 a@0:10 b@16 c@64:29 d@96 param 4[16] result 4[16]
// clang: 16/4 a@0:10 b@16 c@64:29 d@96 param 4[16] result 1[16]
union S208 { uchar4 a[2]; };
// nvcc: 8/4 a@0 param 4[8] result 4[8]
// clang: 8/4 a@0 param 4[8] result 1[8]
struct S209 { int a : 20; char b; size_t c; };
// both: 16/8 a@0:20 b@24 c@64 param 8[16] result 8[16]
struct __attribute__((aligned(16))) S210 { bool a; unsigned char b; };
// nvcc: 16/16 a@0 b@8 param 16[16] result 16[16]
// clang: 16/16 a@0 b@8 param 16[16] result 1[16]
struct S211 { unsigned short a : 1; unsigned long long b : 50; E32 c : 31; S180 d; S191 e; double f; };
// nvcc: 48/16 a@0:1 b@1:50 c@64:31 d@128 d.a@128 d.b@128:53 d.c@128:50 e@256 e.a@256 f@320 param 16[48] result 16[48]
// clang: 48/16 a@0:1 b@1:50 c@64:31 d@128 d.a@128 d.b@128:53 d.c@128:50 e@256 e.a@256 f@320 param 16[48] result 8[48]
struct S212 { unsigned int : 25 __attribute__((packed)); unsigned short a : 11 __attribute__((aligned(4))); unsigned int b : 9; long long c; uint16_t d : 5; };
// both: 24/8 a@32:11 b@43:9 c@64 d@128:5 param 8[24] result 8[24]
struct S213 { short a : 7; struct __attribute__((aligned(128))) { unsigned long long b : 18; }; };
// nvcc: 256/128 a@0:7 b@1024:18 param 128[256] result 128[256]
// clang: 256/128 a@0:7 b@1024:18 param 128[256] result 4[256]
union S214 { unsigned int : 0; S109 a __attribute__((aligned(2))); };
// nvcc: 192/64 a@0 a.a@0:1 a.b@64 a.c@128:20 a.d@192 a.d.a@192 a.d.b@200:39 a.e@512 a.f@512 a.f.a@512:2 a.f.b@576 a.f.c@640 a.g@512:60 a.h@1024:19 param 64[192] result 64[192]
// clang: 192/64 a@0 a.a@0:1 a.b@64 a.c@128:20 a.d@192 a.d.a@192 a.d.b@200:39 a.e@512 a.f@512 a.f.a@512:2 a.f.b@576 a.f.c@640 a.g@512:60 a.h@1024:19 param 64[192] result 8[192]
struct S215 { bool : 0; };
// both: 1/1 param 1[1] result 1[1]
struct S216 { float3 a __attribute__((packed)); struct { long3 b __attribute__((aligned(8))); S72 c; double * d; unsigned int e __attribute__((packed)); }; };
// nvcc: 320/64 a@0 b@512 c@1024 c.a@1024 c.a.a@1027:10 c.a.b@1088 c.a.c@1152:7 c.a.d@1216 c.b@1280 c.c@1536:40 d@2048 e@2112 param 64[320] result 64[320]
// clang: 320/64 a@0 b@512 c@1024 c.a@1024 c.a.a@1027:10 c.a.b@1088 c.a.c@1152:7 c.a.d@1216 c.b@1280 c.c@1536:40 d@2048 e@2112 param 64[320] result 16[320]
struct __attribute__((packed)) S217 { S136 a[2][3]; float1 b; S62 c; unsigned int * d[3][3]; struct __attribute__((aligned(8))) { char e __attribute__((packed)); E64 f; union { uchar1 g __attribute__((aligned(16))); char h __attribute__((aligned(16))); }; int i; unsigned short j : 5; union { bool k : 1; char l; ushort2 m[3][2]; S205 n; unsigned int : 0; }; }; char4 o; };
// nvcc: 278/1 a@0 b@48 c@80 c.a@80 c.b@144 c.b.a@144:3 c.b.b@147:12 c.b.c@160:8 c.b.d@168:7 c.b.e@176 c.c@592:14 d@1104 e@1680 f@1744 g@1808 h@1808 i@1936 j@1968:5 k@2000:1 l@2000 m@2000 n@2000 n.a@2000:42 o@2192 param 4[278] result 1[278]
// clang: 278/1 a@0 b@48 c@80 c.a@80 c.b@144 c.b.a@144:3 c.b.b@147:12 c.b.c@160:8 c.b.d@168:7 c.b.e@176 c.c@592:14 d@1104 e@1680 f@1744 g@1808 h@1808 i@1936 j@1968:5 k@2000:1 l@2000 m@2000 n@2000 n.a@2000:42 o@2192 param 1[278] result 1[278]
struct S218 { char * a; char b; unsigned short c : 4; int d : 32; };
// both: 16/8 a@0 b@64 c@72:4 d@96:32 param 8[16] result 8[16]
struct S219 { unsigned long long a : 22; unsigned long long b : 28; long c : 6; E32 d : 9; };
// both: 16/8 a@0:22 b@22:28 c@50:6 d@64:9 param 8[16] result 8[16]
struct S220 { struct { unsigned int a : 6; }; char : 0; char b : 4 __attribute__((aligned(16))); struct { char3 c; signed char d : 4; uint64_t e; unsigned long f : 2; float g[4]; }; };
// nvcc: 64/16 a@0:6 b@128:4 c@192 d@216:4 e@256 f@320:2 g@352 param 16[64] result 16[64]
// clang: 64/16 a@0:6 b@128:4 c@192 d@216:4 e@256 f@320:2 g@352 param 16[64] result 8[64]
struct S221 { bool a; bool b : 1; struct { unsigned long long c : 35; short d[4]; }; short e : 6; unsigned char f : 8; };
// nvcc: 32/8 a@0 b@8:1 c@64:35 d@112 e@192:6 f@200:8 param 8[32] result 8[32]
// clang: 32/8 a@0 b@8:1 c@64:35 d@112 e@192:6 f@200:8 param 8[32] result 2[32]
struct __attribute__((aligned(2))) S222 { unsigned int a : 5; unsigned int b : 24; signed char c : 7; };
// both: 8/4 a@0:5 b@5:24 c@32:7 param 4[8] result 4[8]
struct S223 { unsigned long long a : 47; };
// both: 8/8 a@0:47 param 8[8] result 8[8]
struct S224 { unsigned short a : 12; unsigned int b : 23; };
// both: 8/4 a@0:12 b@32:23 param 4[8] result 4[8]
struct S225 { unsigned int a : 18; char3 b; uint16_t c : 12; unsigned long : 25; double d[1]; short e : 12 __attribute__((aligned(2))); };
// both: 32/8 a@0:18 b@24 c@48:12 d@128 e@192:12 param 8[32] result 8[32]
union __attribute__((aligned(64))) S226 { short a[2][1]; E16 b : 12; };
// nvcc: 64/64 a@0 b@0:12 param 64[64] result 64[64]
// clang: 64/64 a@0 b@0:12 param 64[64] result 2[64]
struct __attribute__((packed)) S227 { bool a[3] __attribute__((packed)); size_t b; char c : 8; float d; };
// both: 16/1 a@0 b@24 c@88:8 d@96 param 1[16] result 1[16]
struct S228 { bool : 1; struct { short a : 11; uchar1 b; long long c : 57; unsigned int d : 13; }; double e; };
// both: 40/8 a@64:11 b@80 c@128:57 d@192:13 e@256 param 8[40] result 8[40]
union __attribute__((packed)) S229 { E16 a; int b : 17; unsigned short : 1; };
// both: 3/1 a@0 b@0:17 param 1[3] result 1[3]
struct S230 { int a; int b : 8; };
// both: 8/4 a@0 b@32:8 param 4[8] result 4[8]
struct S231 { int8_t a; int b : 25; unsigned int c : 26; };
// both: 12/4 a@0 b@32:25 c@64:26 param 4[12] result 4[12]
struct __attribute__((packed)) __attribute__((aligned(4))) S232 { union { E64 a[2][4]; char b; }; short : 1; E64 c : 22; int1 d; };
// nvcc: 72/4 a@0 b@0 c@513:22 d@536 param 4[72] result 4[72]
// clang: 72/4 a@0 b@0 c@513:22 d@536 param 4[72] result 1[72]
union S233 { unsigned char a : 1; S162 b; unsigned short c : 14; uint16_t : 7; unsigned short : 3; char d : 5 __attribute__((packed)); };
// both: 112/16 a@0:1 b@0 b.a@0:1 b.b@128:54 b.c@192 b.d@256 b.e@384 b.f@512 b.g@576 b.g.a@576 b.g.b@640:50 b.g.c@704 b.g.d@736 b.g.e@768 c@0:14 d@0:5 param 16[112] result 16[112]
struct __attribute__((packed)) __attribute__((aligned(1))) S234 { union { unsigned long long a : 40; }; int1 b; S100 c; S89 d; float e[3] __attribute__((packed)); unsigned int : 1; };
// both: 83/1 a@0:40 b@64 c@96 c.a@96 c.b@104:1 c.c@160 d@288 d.a@288:15 d.b@352:21 d.c@384 d.d@416 d.e@544:3 d.f@547:12 e@560 param 1[83] result 1[83]
union S235 { int a : 1; ulong4 b[3]; unsigned long long c : 41; int d; char e[1]; };
// nvcc: 96/16 a@0:1 b@0 c@0:41 d@0 e@0 param 16[96] result 16[96]
// clang: 96/16 a@0:1 b@0 c@0:41 d@0 e@0 param 16[96] result 8[96]
struct __attribute__((aligned(32))) S236 { signed char a : 6 __attribute__((packed)); union { int8_t b; short c; }; unsigned short d : 12; S210 e __attribute__((packed)); unsigned long long f : 33; E32 g : 1; };
// nvcc: 32/32 a@0:6 b@16 c@16 d@32:12 e@48 e.a@48 e.b@56 f@192:33 g@225:1 param 32[32] result 32[32]
// clang: 32/32 a@0:6 b@16 c@16 d@32:12 e@48 e.a@48 e.b@56 f@192:33 g@225:1 param 32[32] result 8[32]
struct S237 { long a : 18; unsigned long : 42; };
// both: 8/8 a@0:18 param 8[8] result 8[8]
struct __attribute__((packed)) S238 { unsigned char a : 7; long1 b; struct __attribute__((packed)) { signed char c : 8; }; unsigned long long d : 31; char e : 1; unsigned char f : 7; };
// both: 15/1 a@0:7 b@8 c@72:8 d@80:31 e@111:1 f@112:7 param 1[15] result 1[15]
union S239 { uint16_t a : 11; S142 b; uchar3 c; E32 d : 21; long long e : 2; };
// both: 200/8 a@0:11 b@0 b.a@0:29 b.b@29:7 b.c@36:19 b.d@55:6 b.e@64 b.e.a@64 b.e.b@576 b.e.b.a@672 b.e.b.b@704 b.e.b.b.a@704 b.e.b.b.a.a@704:6 b.e.b.b.a.b@712 b.e.b.b.a.c@776:5 b.e.b.b.a.d@781:10 b.e.b.b.a.e@832 b.e.b.b.b@896:16 b.e.b.b.c@912:15 b.e.b.b.d@928:25 b.e.c@1088 b.e.d@1152 c@0 d@0:21 e@0:2 param 8[200] result 8[200]
struct S240 { int a : 10 __attribute__((aligned(16))); int b : 2 __attribute__((aligned(16))); struct __attribute__((aligned(8))) { int c : 32; signed char d : 3; char e : 4; E8 f : 8; }; };
// nvcc: 32/16 a@0:10 b@128:2 c@192:32 d@224:3 e@227:4 f@232:8 param 16[32] result 16[32]
// clang: 32/16 a@0:10 b@128:2 c@192:32 d@224:3 e@227:4 f@232:8 param 16[32] result 8[32]
struct S241 { long long a : 54; short b : 5; };
// both: 8/8 a@0:54 b@54:5 param 8[8] result 8[8]
union S242 { int a : 30; unsigned int b : 15; unsigned long c : 56 __attribute__((aligned(16))); bool d : 1; unsigned short e : 1; E16 f : 16 __attribute__((aligned(8))); };
// nvcc: 16/16 a@0:30 b@0:15 c@0:56 d@0:1 e@0:1 f@0:16 param 16[16] result 16[16]
// clang: 16/16 a@0:30 b@0:15 c@0:56 d@0:1 e@0:1 f@0:16 param 16[16] result 8[16]
struct S243 { signed char : 4; bool a : 1; E64 b : 49; unsigned __int128 c; struct { signed char d : 8; unsigned short e : 1; short f : 5 __attribute__((packed)); char4 g[2]; struct { uchar2 h; long i : 37; ulong3 j; E32 : 13; }; unsigned char k; }; short l : 13; };
// both: 112/16 a@4:1 b@5:49 c@128 d@256:8 e@264:1 f@265:5 g@288 h@384 i@400:37 j@448 k@704 l@768:13 param 16[112] result 16[112]
struct S244 { union { char a __attribute__((aligned(1))); uchar2 b; int c; int : 14; short2 d __attribute__((aligned(64))); }; long e : 1; signed char : 5; S134 f; unsigned int g : 22; int3 h; };
// nvcc: 128/64 a@0 b@0 c@0 d@0 e@512:1 f@576 f.a@576 f.b@640:6 g@704:22 h@736 param 64[128] result 64[128]
// clang: 128/64 a@0 b@0 c@0 d@0 e@512:1 f@576 f.a@576 f.b@640:6 g@704:22 h@736 param 64[128] result 4[128]
struct S245 { short1 a; };
// both: 2/2 a@0 param 2[2] result 2[2]
struct __attribute__((packed)) S246 { long long a : 63; double b; short c : 3 __attribute__((aligned(64))); };
// nvcc: 128/64 a@0:63 b@64 c@512:3 param 64[128] result 64[128]
// clang: 128/64 a@0:63 b@64 c@512:3 param 64[128] result 8[128]
struct S247 { };
// both: 1/1 param 1[1] result 1[1]
struct S248 { long long a; char b; unsigned long long c : 59; unsigned int d : 15 __attribute__((aligned(32))); ushort1 e; double * f; };
// nvcc: 64/32 a@0 b@64 c@128:59 d@256:15 e@272 f@320 param 32[64] result 32[64]
// clang: 64/32 a@0 b@64 c@128:59 d@256:15 e@272 f@320 param 32[64] result 8[64]
struct __attribute__((packed)) S249 { unsigned short a : 5; int b : 10; double4 c; long d : 32; };
// both: 38/1 a@0:5 b@5:10 c@16 d@272:32 param 1[38] result 1[38]
union S250 { int a; int1 b; E32 c : 10; uchar3 d; S54 e; long : 14; };
// both: 4/4 a@0 b@0 c@0:10 d@0 e@0 e.a@0:17 e.b@17:2 param 4[4] result 4[4]
struct S251 { uchar3 a[2]; long b : 61; unsigned long c : 2; S179 d; };
// both: 32/8 a@0 b@64:61 c@125:2 d@128 d.a@128:13 d.b@128 d.b.a@128 d.b.a.a@128 d.b.b@128 d.b.c@128 d.c@128 d.d@128:21 d.e@128:20 param 8[32] result 8[32]
struct __attribute__((packed)) S252 { bool a; int b; unsigned char c : 3 __attribute__((aligned(8))); unsigned int d : 14 __attribute__((aligned(8))); S69 e; };
// nvcc: 56/8 a@0 b@8 c@64:3 d@128:14 e@144 e.a@144 e.b@336:7 e.c@343:2 param 8[56] result 8[56]
// clang: 56/8 a@0 b@8 c@64:3 d@128:14 e@144 e.a@144 e.b@336:7 e.c@343:2 param 8[56] result 1[56]
struct S253 { signed char a : 7; unsigned __int128 b; uchar3 c; unsigned int d : 22; E e __attribute__((packed)); };
// nvcc: 48/16 a@0:7 b@128 c@256 d@288:22 e@312 param 16[48] result 16[48]
// clang: 48/16 a@0:7 b@128 c@256 d@288:22 e@312 param 16[48] result 1[48]
struct S254 { };
// both: 1/1 param 1[1] result 1[1]
struct S255 { unsigned long long a : 64 __attribute__((packed)); float b; E32 c : 13; short3 d; int4 e; };
// nvcc: 48/16 a@0:64 b@64 c@96:13 d@112 e@256 param 16[48] result 16[48]
// clang: 48/16 a@0:64 b@64 c@96:13 d@112 e@256 param 16[48] result 8[48]
union S256 { struct { long long a : 17; short b __attribute__((aligned(64))); unsigned int c : 4; S192 d; long long e; }; unsigned long f : 49; unsigned __int128 g; char h; long * i[3]; };
// nvcc: 128/64 a@0:17 b@512 c@528:4 d@544 d.a@544 d.b@616 d.b.a@616:11 d.b.b@627:49 d.c@680:5 d.d@704 d.e@800 e@832 f@0:49 g@0 h@0 i@0 param 64[128] result 64[128]
// clang: 128/64 a@0:17 b@512 c@528:4 d@544 d.a@544 d.b@616 d.b.a@616:11 d.b.b@627:49 d.c@680:5 d.d@704 d.e@800 e@832 f@0:49 g@0 h@0 i@0 param 64[128] result 16[128]
struct S257 { char a : 5 __attribute__((packed)); bool : 1; E32 b : 20; };
// both: 4/4 a@0:5 b@6:20 param 4[4] result 4[4]
struct __attribute__((aligned(1))) S258 { long * a; E8 b : 2 __attribute__((packed)); };
// both: 16/8 a@0 b@64:2 param 8[16] result 8[16]
struct __attribute__((aligned(64))) S259 { signed char a : 8; struct { struct __attribute__((aligned(2))) { int b : 3; long c; unsigned char d : 2; unsigned char e __attribute__((aligned(16))); bool f : 1; uint16_t g : 5; }; int : 14; ushort3 h; signed char i : 2; }; };
// nvcc: 128/64 a@0:8 b@128:3 c@192 d@256:2 e@384 f@392:1 g@393:5 h@528 i@576:2 param 64[128] result 64[128]
// clang: 128/64 a@0:8 b@128:3 c@192 d@256:2 e@384 f@392:1 g@393:5 h@528 i@576:2 param 64[128] result 8[128]
struct __attribute__((aligned(32))) S260 { long long : 0; unsigned char a : 5; struct __attribute__((aligned(64))) { short b; }; uint64_t c; };
// nvcc: 192/64 a@0:5 b@512 c@1024 param 64[192] result 64[192]
// clang: 192/64 a@0:5 b@512 c@1024 param 64[192] result 8[192]
struct S261 { float a __attribute__((aligned(4))); bool b : 1; };
// both: 8/4 a@0 b@32:1 param 4[8] result 4[8]
struct __attribute__((packed)) __attribute__((aligned(2))) S262 { unsigned int : 1; unsigned int a : 31; float b; S29 c; E d; };
// nvcc: 36/2 a@1:31 b@32 c@64 c.a@64:6 c.b@72 c.c@136:5 c.d@141:10 c.e@192 d@256 param 2[36] result 2[36]
// clang: 36/2 a@1:31 b@32 c@64 c.a@64:6 c.b@72 c.c@136:5 c.d@141:10 c.e@192 d@256 param 4[36] result 4[36]
struct S263 { E32 a; S219 b; long long c; union { short d; }; };
// both: 40/8 a@0 b@64 b.a@64:22 b.b@86:28 b.c@114:6 b.d@128:9 c@192 d@256 param 8[40] result 8[40]
struct S264 { double a[2][3]; uint16_t b : 16; S167 c; struct { unsigned char d : 5; struct { signed char e : 5; E16 f : 16; E32 g : 22; int8_t h; S41 i[3]; E16 : 4; }; int j; char k : 5; E16 : 0; struct { float l; char m : 1; char n; float o; }; }; E8 p : 2 __attribute__((aligned(32))); int q : 21; };
// nvcc: 384/32 a@0 b@384:16 c@448 c.a@448:8 c.b@464:13 c.c@512:29 c.d@544 d@640:5 e@768:5 f@784:16 g@800:22 h@824 i@896 i[0].a@896 i[0].b@1024:41 i[0].c@1088 i[0].d@1280:27 j@2560 k@2592:5 l@2624 m@2656:1 n@2664 o@2688 p@2816:2 q@2818:21 param 32[384] result 32[384]
// clang: 384/32 a@0 b@384:16 c@448 c.a@448:8 c.b@464:13 c.c@512:29 c.d@544 d@640:5 e@768:5 f@784:16 g@800:22 h@824 i@896 i[0].a@896 i[0].b@1024:41 i[0].c@1088 i[0].d@1280:27 j@2560 k@2592:5 l@2624 m@2656:1 n@2664 o@2688 p@2816:2 q@2818:21 param 32[384] result 8[384]
struct S265 { long a : 53; unsigned char : 0; struct { struct { unsigned int : 10 __attribute__((packed)); S197 b[1]; uint16_t c : 8; short d : 6; unsigned int : 13; }; }; int e : 28; char f : 7; };
// both: 96/16 a@0:53 b@256 b[0].a@256 b[0].b@384:1 b[0].c@385:12 c@512:8 d@520:6 e@640:28 f@672:7 param 16[96] result 16[96]
struct S266 { unsigned int : 0; S105 a __attribute__((aligned(64))); };
// nvcc: 64/64 a@0 a.a@0 a.a[0].a@0:3 a.a[0].b@3:12 a.a[0].c@16:8 a.a[0].d@24:7 a.a[0].e@32 a.b@64:5 param 64[64] result 64[64]
// clang: 64/64 a@0 a.a@0 a.a[0].a@0:3 a.a[0].b@3:12 a.a[0].c@16:8 a.a[0].d@24:7 a.a[0].e@32 a.b@64:5 param 64[64] result 1[64]
struct S267 { ulong4 a; float b; signed char c : 2 __attribute__((aligned(8))); unsigned short d : 8; int e : 27; union { short f __attribute__((aligned(64))); size_t g[4]; unsigned char h : 1 __attribute__((packed)); E16 : 14; unsigned long i : 34; char j; }; };
// nvcc: 128/64 a@0 b@256 c@320:2 d@322:8 e@352:27 f@512 g@512 h@512:1 i@512:34 j@512 param 64[128] result 64[128]
// clang: 128/64 a@0 b@256 c@320:2 d@322:8 e@352:27 f@512 g@512 h@512:1 i@512:34 j@512 param 64[128] result 8[128]
struct S268 { union { unsigned long long a : 59; double b; double c; unsigned long d : 31; }; S50 e; short f : 6; struct __attribute__((aligned(4))) { unsigned int g : 19; unsigned int h : 6; double i; long j __attribute__((aligned(16))); int k : 29 __attribute__((aligned(4))); S87 l __attribute__((packed)); }; struct __attribute__((packed)) { int : 11; long long m __attribute__((aligned(2))) __attribute__((packed)); int n : 17; unsigned short o : 1; struct { unsigned long long p : 32; }; long : 8; }; long long q : 34; };
// nvcc: 192/16 a@0:59 b@0 c@0 d@0:31 e@64 e.a@64:10 e.b@64:39 e.c@64 e.d@64 e.e@64:8 f@128:6 g@256:19 h@275:6 i@320 j@384 k@448:29 l@480 l.a@480 l.b@544:52 l.c@608 l.c.a@608:29 l.c.b@640:4 l.c.c@648:7 l.c.d@672:32 l.c.e@736:3 l.c.f@744 l.c.g@800 l.c.h@864 l.c.i@736 l.c.i.a@736:1 l.c.j@736 l.c.k@1008 l.c.l@1024 l.d@1056:16 l.e@1120 m@1296 n@1360:17 o@1377:1 p@1384:32 q@1472:34 param 16[192] result 16[192]
// clang: 192/16 a@0:59 b@0 c@0 d@0:31 e@64 e.a@64:10 e.b@64:39 e.c@64 e.d@64 e.e@64:8 f@128:6 g@256:19 h@275:6 i@320 j@384 k@448:29 l@480 l.a@480 l.b@544:52 l.c@608 l.c.a@608:29 l.c.b@640:4 l.c.c@648:7 l.c.d@672:32 l.c.e@736:3 l.c.f@744 l.c.g@800 l.c.h@864 l.c.i@736 l.c.i.a@736:1 l.c.j@736 l.c.k@1008 l.c.l@1024 l.d@1056:16 l.e@1120 m@1296 n@1360:17 o@1377:1 p@1384:32 q@1472:34 param 16[192] result 8[192]
union __attribute__((packed)) S269 { unsigned int a : 16 __attribute__((packed)); bool b; bool c : 1; };
// nvcc: 2/1 a@0:16 b@0 c@0:1 param 1[2] result 1[2]
// clang: 2/1 a@0:16 b@0 c@0:1 param 2[2] result 2[2]
struct __attribute__((packed)) S270 { unsigned short : 15; unsigned int a : 23 __attribute__((aligned(8))); float * b; long long c : 38; };
// nvcc: 24/8 a@64:23 b@88 c@152:38 param 8[24] result 8[24]
// clang: 24/8 a@64:23 b@88 c@152:38 param 8[24] result 1[24]
struct S271 { S248 a __attribute__((packed)); };
// nvcc: 64/1 a@0 a.a@0 a.b@64 a.c@128:59 a.d@256:15 a.e@272 a.f@320 param 1[64] result 1[64]
// clang: 64/1 a@0 a.a@0 a.b@64 a.c@128:59 a.d@256:15 a.e@272 a.f@320 param 8[64] result 8[64]
union S272 { float a; unsigned short b : 1; S13 c; S12 d; bool e; int f : 11; };
// both: 32/8 a@0 b@0:1 c@0 c.a@0:6 d@0 d.a@0:3 d.b@16:16 d.c@64 d.d@128 d.e@160:15 d.f@192:23 e@0 f@0:11 param 8[32] result 8[32]
struct S273 { unsigned int a : 27; unsigned short b : 7; unsigned int c : 28; S53 d[1]; char : 0; char : 0; };
// nvcc: 192/16 a@0:27 b@32:7 c@64:28 d@128 d[0].a@128 d[0].b@384 d[0].b.a@384 d[0].b.b@640:26 d[0].b.c@768 d[0].b.c.a@768 d[0].b.c.a.a@768 d[0].b.c.b@768 d[0].b.c.c@768 d[0].b.d@896 d[0].b.e@1152:3 d[0].b.f@1155:1 d[0].b.g@1216 d[0].c@1408:41 d[0].d@1472:25 d[0].e@1504:22 param 16[192] result 16[192]
// clang: 192/16 a@0:27 b@32:7 c@64:28 d@128 d[0].a@128 d[0].b@384 d[0].b.a@384 d[0].b.b@640:26 d[0].b.c@768 d[0].b.c.a@768 d[0].b.c.a.a@768 d[0].b.c.b@768 d[0].b.c.c@768 d[0].b.d@896 d[0].b.e@1152:3 d[0].b.f@1155:1 d[0].b.g@1216 d[0].c@1408:41 d[0].d@1472:25 d[0].e@1504:22 param 16[192] result 8[192]
struct __attribute__((packed)) S274 { bool a : 1; char b : 7; unsigned int c; struct { unsigned long long d : 25; signed char e : 3; }; };
// both: 13/1 a@0:1 b@1:7 c@8 d@40:25 e@65:3 param 1[13] result 1[13]
union S275 { int : 11; char a; E8 b : 5 __attribute__((aligned(8))); int8_t c; unsigned __int128 d; unsigned long e : 33; };
// both: 16/16 a@0 b@0:5 c@0 d@0 e@0:33 param 16[16] result 16[16]
union S276 { long long a : 16; char b[2][3]; bool c : 1; unsigned long d : 10; long1 e; bool f : 1; };
// both: 8/8 a@0:16 b@0 c@0:1 d@0:10 e@0 f@0:1 param 8[8] result 8[8]
union S277 { E64 : 0; };
// both: 1/1 param 1[1] result 1[1]
struct S278 { char1 a; double1 b; };
// both: 16/8 a@0 b@64 param 8[16] result 8[16]
struct S279 { short a; unsigned long : 0; };
// both: 8/2 a@0 param 2[8] result 2[8]
struct __attribute__((aligned(4))) S280 { short a : 5 __attribute__((aligned(32))); longlong1 b; long c; uint16_t d : 8; };
// nvcc: 32/32 a@0:5 b@64 c@128 d@192:8 param 32[32] result 32[32]
// clang: 32/32 a@0:5 b@64 c@128 d@192:8 param 32[32] result 8[32]
union __attribute__((aligned(16))) S281 { uint16_t a : 16; unsigned char b : 3; unsigned long long c : 31 __attribute__((packed)); };
// nvcc: 16/16 a@0:16 b@0:3 c@0:31 param 16[16] result 16[16]
// clang: 16/16 a@0:16 b@0:3 c@0:31 param 16[16] result 4[16]
union __attribute__((aligned(16))) S282 { int a; };
// nvcc: 16/16 a@0 param 16[16] result 16[16]
// clang: 16/16 a@0 param 16[16] result 4[16]
struct S283 { int a : 20; long b : 16; E8 c : 8; int : 0; unsigned int d : 14; };
// both: 16/8 a@0:20 b@20:16 c@40:8 d@64:14 param 8[16] result 8[16]
struct S284 { unsigned int a[3]; short4 b; struct { long c[3][2]; unsigned short d : 6; }; S22 e; S113 f[2][1]; size_t g; };
// nvcc: 384/64 a@0 b@128 c@192 d@576:6 e@1024 e.a@1024 e.b@1024 e.b.a@1024:8 e.b.b@1024:12 e.b.c@1024:24 e.b.d@1024:8 e.c@1024 e.d@1024 e.e@1024:5 f@2048 f[0][0].a@2048 f[0][0].b@2112 f[0][0].c@2120 f[0][0].c.a@2120 f[0][0].c.a.a@2120 f[0][0].c.a.b@2184:9 f[0][0].c.a.c@2216 f[0][0].c.b@2248 g@2624 param 64[384] result 64[384]
// clang: 384/64 a@0 b@128 c@192 d@576:6 e@1024 e.a@1024 e.b@1024 e.b.a@1024:8 e.b.b@1024:12 e.b.c@1024:24 e.b.d@1024:8 e.c@1024 e.d@1024 e.e@1024:5 f@2048 f[0][0].a@2048 f[0][0].b@2112 f[0][0].c@2120 f[0][0].c.a@2120 f[0][0].c.a.a@2120 f[0][0].c.a.b@2184:9 f[0][0].c.a.c@2216 f[0][0].c.b@2248 g@2624 param 64[384] result 8[384]
struct S285 { int : 0; uint16_t a : 6; short b : 13; };
// both: 4/2 a@0:6 b@16:13 param 2[4] result 2[4]
struct S286 { unsigned short a : 7; E16 b : 4; };
// both: 2/2 a@0:7 b@7:4 param 2[2] result 2[2]
union S287 { S275 a[4] __attribute__((packed)); int b : 29 __attribute__((packed)); };
// nvcc: 64/1 a@0 a[0].a@0 a[0].b@0:5 a[0].c@0 a[0].d@0 a[0].e@0:33 b@0:29 param 1[64] result 1[64]
// clang: 64/1 a@0 a[0].a@0 a[0].b@0:5 a[0].c@0 a[0].d@0 a[0].e@0:33 b@0:29 param 16[64] result 16[64]
struct S288 { S219 a; long b : 56; unsigned long long c : 47; long long d : 13; E16 e : 3; };
// both: 32/8 a@0 a.a@0:22 a.b@22:28 a.c@50:6 a.d@64:9 b@128:56 c@192:47 d@239:13 e@252:3 param 8[32] result 8[32]
struct S289 { struct { unsigned char a : 6 __attribute__((aligned(16))); long long b; long c : 39; char d : 7; unsigned __int128 * e[2]; }; unsigned int f[2][1]; long g : 44 __attribute__((packed)); struct __attribute__((aligned(64))) { S242 h __attribute__((packed)); signed char i : 7; short : 0; size_t j; unsigned int k : 26 __attribute__((packed)); size_t l __attribute__((aligned(32))); }; short m : 10; };
// nvcc: 256/64 a@0:6 b@64 c@128:39 d@168:7 e@192 f@384 g@448:44 h@512 h.a@512:30 h.b@512:15 h.c@512:56 h.d@512:1 h.e@512:1 h.f@512:16 i@640:7 j@704 k@768:26 l@1024 m@1536:10 param 64[256] result 64[256]
// clang: 256/64 a@0:6 b@64 c@128:39 d@168:7 e@192 f@384 g@448:44 h@512 h.a@512:30 h.b@512:15 h.c@512:56 h.d@512:1 h.e@512:1 h.f@512:16 i@640:7 j@704 k@768:26 l@1024 m@1536:10 param 64[256] result 8[256]
union S290 { char a : 4; int b : 3; signed char c : 3; char d : 8 __attribute__((packed)); };
// nvcc: 4/4 a@0:4 b@0:3 c@0:3 d@0:8 param 4[4] result 4[4]
// clang: 4/4 a@0:4 b@0:3 c@0:3 d@0:8 param 4[4] result 1[4]
struct __attribute__((packed)) S291 { union __attribute__((packed)) { long long a : 48; bool b : 1; char c __attribute__((packed)); S68 d; char e; bool f; }; int : 1; ushort3 g; int h : 20 __attribute__((packed)); };
// both: 26/1 a@0:48 b@0:1 c@0 d@0 d.a@0:16 d.b@0 d.c@0 e@0 f@0 g@136 h@184:20 param 1[26] result 1[26]
struct S292 { uint3 a; char3 b[3]; };
// both: 24/4 a@0 b@96 param 4[24] result 4[24]
struct S293 { unsigned int a : 17; E8 b : 4; struct { double c; unsigned short d : 16; }; };
// both: 24/8 a@0:17 b@17:4 c@64 d@128:16 param 8[24] result 8[24]
struct S294 { long a; S159 b; signed char c : 3; E16 : 9 __attribute__((packed)); };
// both: 56/8 a@0 b@64 b.a@64 b.b@128 b.c@192:59 b.d@256 c@384:3 param 8[56] result 8[56]
struct S295 { E16 a : 4; size_t b; unsigned short c : 11; E64 d; };
// both: 32/8 a@0:4 b@64 c@128:11 d@192 param 8[32] result 8[32]
union __attribute__((packed)) S296 { unsigned long a : 29; S264 b __attribute__((packed)); char c[3][1]; uint16_t d : 8; };
// nvcc: 384/1 a@0:29 b@0 b.a@0 b.b@384:16 b.c@448 b.c.a@448:8 b.c.b@464:13 b.c.c@512:29 b.c.d@544 b.d@640:5 b.e@768:5 b.f@784:16 b.g@800:22 b.h@824 b.i@896 b.i[0].a@896 b.i[0].b@1024:41 b.i[0].c@1088 b.i[0].d@1280:27 b.j@2560 b.k@2592:5 b.l@2624 b.m@2656:1 b.n@2664 b.o@2688 b.p@2816:2 b.q@2818:21 c@0 d@0:8 param 4[384] result 1[384]
// clang: 384/1 a@0:29 b@0 b.a@0 b.b@384:16 b.c@448 b.c.a@448:8 b.c.b@464:13 b.c.c@512:29 b.c.d@544 b.d@640:5 b.e@768:5 b.f@784:16 b.g@800:22 b.h@824 b.i@896 b.i[0].a@896 b.i[0].b@1024:41 b.i[0].c@1088 b.i[0].d@1280:27 b.j@2560 b.k@2592:5 b.l@2624 b.m@2656:1 b.n@2664 b.o@2688 b.p@2816:2 b.q@2818:21 c@0 d@0:8 param 8[384] result 8[384]
struct S297 { unsigned char a : 2 __attribute__((packed)); E16 b : 11 __attribute__((aligned(64))); bool : 1; uint64_t c[2]; E8 d : 7; };
// nvcc: 128/64 a@0:2 b@512:11 c@576 d@704:7 param 64[128] result 64[128]
// clang: 128/64 a@0:2 b@512:11 c@576 d@704:7 param 64[128] result 8[128]
struct S298 { int a : 28; struct __attribute__((packed)) { double b; }; signed char c : 7; uint64_t d[1]; };
// nvcc: 24/8 a@0:28 b@32 c@96:7 d@128 param 8[24] result 8[24]
// clang: 24/8 a@0:28 b@32 c@96:7 d@128 param 8[24] result 1[24]
struct S299 { unsigned long a : 15; S235 b; S110 c[1]; E16 d : 5 __attribute__((aligned(4))); long long * e; };
// nvcc: 160/16 a@0:15 b@128 b.a@128:1 b.b@128 b.c@128:41 b.d@128 b.e@128 c@896 c[0].a@896 c[0].b@904:13 c[0].c@920 c[0].d@968 c[0].e@1032:16 c[0].f@1064 c[0].g@1096 d@1184:5 e@1216 param 16[160] result 16[160]
// clang: 160/16 a@0:15 b@128 b.a@128:1 b.b@128 b.c@128:41 b.d@128 b.e@128 c@896 c[0].a@896 c[0].b@904:13 c[0].c@920 c[0].d@968 c[0].e@1032:16 c[0].f@1064 c[0].g@1096 d@1184:5 e@1216 param 16[160] result 8[160]
struct S300 { unsigned long a : 30; };
// nvcc: 8/8 a@0:30 param 8[8] result 8[8]
// clang: 8/8 a@0:30 param 8[8] result 4[8]
struct S301 { };
// both: 1/1 param 1[1] result 1[1]
struct S302 { unsigned int a : 29 __attribute__((aligned(4))); };
// both: 4/4 a@0:29 param 4[4] result 4[4]
struct S303 { short a : 4; unsigned long long b : 44; char c : 7; struct { unsigned int * d; unsigned int e : 11 __attribute__((aligned(8))); int f : 12; unsigned int g; union __attribute__((aligned(128))) { unsigned int h : 22; unsigned char i; unsigned long long : 42; E8 j; }; }; uint64_t k[3][1]; };
// nvcc: 512/128 a@0:4 b@4:44 c@48:7 d@1024 e@1088:11 f@1099:12 g@1120 h@2048:22 i@2048 j@2048 k@3072 param 128[512] result 128[512]
// clang: 512/128 a@0:4 b@4:44 c@48:7 d@1024 e@1088:11 f@1099:12 g@1120 h@2048:22 i@2048 j@2048 k@3072 param 128[512] result 8[512]
union __attribute__((aligned(4))) S304 { long a; int b : 28; };
// both: 8/8 a@0 b@0:28 param 8[8] result 8[8]
struct S305 { long : 62; unsigned short a : 14 __attribute__((packed)); long : 30; bool b; };
// both: 15/1 a@62:14 b@112 param 1[15] result 1[15]
struct S306 { signed char a : 2; unsigned char b; unsigned int c : 28; };
// both: 8/4 a@0:2 b@8 c@32:28 param 4[8] result 4[8]
union S307 { short : 15; long long a : 41 __attribute__((aligned(8))); char b; bool c : 1 __attribute__((packed)); char d __attribute__((aligned(4))); };
// both: 8/8 a@0:41 b@0 c@0:1 d@0 param 8[8] result 8[8]
struct __attribute__((aligned(64))) S308 { unsigned long long a : 10; char : 0; unsigned long b : 35; uint16_t c : 2; unsigned char d : 7; long1 e; };
// nvcc: 64/64 a@0:10 b@16:35 c@51:2 d@56:7 e@64 param 64[64] result 64[64]
// clang: 64/64 a@0:10 b@16:35 c@51:2 d@56:7 e@64 param 64[64] result 8[64]
struct S309 { long a; };
// both: 8/8 a@0 param 8[8] result 8[8]
union __attribute__((packed)) __attribute__((aligned(2))) S310 { double3 a; long long b[1]; S65 c; float d; };
// nvcc: 112/2 a@0 b@0 c@0 c.a@0:4 c.b@32 c.c@128 d@0 param 2[112] result 2[112]
// clang: 112/2 a@0 b@0 c@0 c.a@0:4 c.b@32 c.c@128 d@0 param 8[112] result 8[112]
struct S311 { long a; unsigned int b : 24 __attribute__((packed)); struct { unsigned int c : 28; long d[4]; }; float e; unsigned long long f : 52; };
// both: 72/8 a@0 b@64:24 c@128:28 d@192 e@448 f@512:52 param 8[72] result 8[72]
struct S312 { long a : 16; signed char : 0; long : 31; E16 b : 10; uint16_t c : 4; };
// nvcc: 8/8 a@0:16 b@48:10 c@58:4 param 8[8] result 8[8]
// clang: 8/8 a@0:16 b@48:10 c@58:4 param 8[8] result 1[8]
struct S313 { E64 a : 58 __attribute__((aligned(64))) __attribute__((packed)); unsigned char b; size_t c __attribute__((aligned(64))); char d[2]; ulong4 e; char3 f; };
// nvcc: 128/64 a@0:58 b@64 c@512 d@576 e@640 f@896 param 64[128] result 64[128]
// clang: 128/64 a@0:58 b@64 c@512 d@576 e@640 f@896 param 64[128] result 8[128]
union S314 { unsigned __int128 a[2]; unsigned int b : 17; unsigned char c; E64 d __attribute__((aligned(32))); signed char e : 5 __attribute__((packed)); };
// nvcc: 32/32 a@0 b@0:17 c@0 d@0 e@0:5 param 32[32] result 32[32]
// clang: 32/32 a@0 b@0:17 c@0 d@0 e@0:5 param 32[32] result 16[32]
struct S315 { int a : 28; struct { unsigned long long : 40; short b; }; unsigned char c : 2; struct { union { struct { long d; S99 e; char f; int8_t g[1][3]; }; short h; }; signed char i : 2; long long : 0; float j; }; unsigned long : 0; long : 7; };
// both: 64/8 a@0:28 b@80 c@96:2 d@128 e@192 e.a@192 e.b@192:8 f@256 g@264 h@128 i@320:2 j@384 param 8[64] result 8[64]
struct S316 { int a : 29; E32 : 0; uint1 b; unsigned char c; unsigned long long d : 3; };
// nvcc: 16/8 a@0:29 b@32 c@64 d@72:3 param 8[16] result 8[16]
// clang: 16/8 a@0:29 b@32 c@64 d@72:3 param 8[16] result 4[16]
union S317 { unsigned char a : 7; unsigned long b : 2; signed char c : 5; uint64_t d; };
// both: 8/8 a@0:7 b@0:2 c@0:5 d@0 param 8[8] result 8[8]
struct S318 { S225 a; };
// both: 32/8 a@0 a.a@0:18 a.b@24 a.c@48:12 a.d@128 a.e@192:12 param 8[32] result 8[32]
struct S319 { float a __attribute__((packed)); };
// nvcc: 4/1 a@0 param 1[4] result 1[4]
// clang: 4/1 a@0 param 4[4] result 4[4]
struct S320 { signed char : 6; union { unsigned long a : 53 __attribute__((packed)); short b; unsigned long c : 19; long d; long3 e; }; unsigned long f : 28; unsigned int g; float h; unsigned char i : 7; };
// both: 48/8 a@64:53 b@64 c@64:19 d@64 e@64 f@256:28 g@288 h@320 i@352:7 param 8[48] result 8[48]
struct S321 { int : 0; };
// both: 1/1 param 1[1] result 1[1]
union S322 { double a; char b; unsigned long long : 0; };
// both: 8/8 a@0 b@0 param 8[8] result 8[8]
struct S323 { S92 a; E8 b : 6; bool c : 1; long long d; unsigned long e : 3; int f; };
// both: 32/8 a@0 a.a@26:1 a.b@27:1 b@64:6 c@70:1 d@128 e@192:3 f@224 param 8[32] result 8[32]
struct __attribute__((aligned(32))) S324 { unsigned long a : 42; unsigned long long : 40 __attribute__((packed)); short : 3; int b : 15; long long c : 49; int d : 26; };
// nvcc: 32/32 a@0:42 b@96:15 c@128:49 d@192:26 param 32[32] result 32[32]
// clang: 32/32 a@0:42 b@96:15 c@128:49 d@192:26 param 32[32] result 8[32]
struct S325 { S258 a; long b : 48 __attribute__((aligned(64))) __attribute__((packed)); E16 c : 2; };
// nvcc: 128/64 a@0 a.a@0 a.b@64:2 b@512:48 c@560:2 param 64[128] result 64[128]
// clang: 128/64 a@0 a.a@0 a.b@64:2 b@512:48 c@560:2 param 64[128] result 8[128]
struct S326 { S65 a; ulonglong3 b __attribute__((aligned(32))); E32 c : 1; char2 d __attribute__((aligned(2))); unsigned short e : 8 __attribute__((packed)); S290 f; };
// nvcc: 192/32 a@0 a.a@0:4 a.b@32 a.c@128 b@1024 c@1216:1 d@1232 e@1248:8 f@1280 f.a@1280:4 f.b@1280:3 f.c@1280:3 f.d@1280:8 param 32[192] result 32[192]
// clang: 192/32 a@0 a.a@0:4 a.b@32 a.c@128 b@1024 c@1216:1 d@1232 e@1248:8 f@1280 f.a@1280:4 f.b@1280:3 f.c@1280:3 f.d@1280:8 param 32[192] result 8[192]
struct S327 { ulong1 a[2][1]; int : 0; unsigned int b[1]; S292 c[4]; int d : 24; float e; };
// both: 128/8 a@0 b@128 c@160 c[0].a@160 c[0].b@256 d@928:24 e@960 param 8[128] result 8[128]
struct S328 { struct { short a : 16 __attribute__((packed)); int b : 16 __attribute__((packed)); double c[4]; E8 d : 6; }; signed char e : 8 __attribute__((aligned(32))); short3 f; struct { unsigned short g : 10; double h; bool i : 1 __attribute__((aligned(2))); size_t j; }; };
// nvcc: 128/32 a@0:16 b@16:16 c@64 d@320:6 e@512:8 f@528 g@576:10 h@640 i@704:1 j@768 param 32[128] result 32[128]
// clang: 128/32 a@0:16 b@16:16 c@64 d@320:6 e@512:8 f@528 g@576:10 h@640 i@704:1 j@768 param 32[128] result 8[128]
struct S329 { S222 a; uint16_t b : 6; unsigned long long c : 3; };
// nvcc: 16/8 a@0 a.a@0:5 a.b@5:24 a.c@32:7 b@64:6 c@70:3 param 8[16] result 8[16]
// clang: 16/8 a@0 a.a@0:5 a.b@5:24 a.c@32:7 b@64:6 c@70:3 param 8[16] result 4[16]
struct S330 { bool a : 1; signed char : 0; };
// both: 1/1 a@0:1 param 1[1] result 1[1]
struct S331 { ushort1 a; short b; E64 : 11; long long : 0; char c[3][2]; size_t d; };
// both: 24/8 a@0 b@16 c@64 d@128 param 8[24] result 8[24]
struct __attribute__((aligned(16))) S332 { unsigned short : 6 __attribute__((packed)); long long a : 48; };
// nvcc: 16/16 a@6:48 param 16[16] result 16[16]
// clang: 16/16 a@6:48 param 16[16] result 8[16]
union S333 { double a; unsigned long b : 55; unsigned int c : 18; };
// both: 8/8 a@0 b@0:55 c@0:18 param 8[8] result 8[8]
struct __attribute__((aligned(16))) S334 { long long : 26; bool a : 1; unsigned short : 0; int b : 9; };
// nvcc: 16/16 a@26:1 b@32:9 param 16[16] result 16[16]
// clang: 16/16 a@26:1 b@32:9 param 16[16] result 4[16]
union S335 { S219 a; char b __attribute__((packed)); int : 17; };
// both: 16/8 a@0 a.a@0:22 a.b@22:28 a.c@50:6 a.d@64:9 b@0 param 8[16] result 8[16]
struct S336 { E8 a; };
// both: 1/1 a@0 param 1[1] result 1[1]
struct S337 { char a : 2; uint16_t b : 14; uint16_t : 0; long c; };
// both: 16/8 a@0:2 b@2:14 c@64 param 8[16] result 8[16]
struct S338 { unsigned long a : 12; S207 b[2]; long long c : 20; struct { unsigned int d : 18; unsigned long e : 26; float2 f; bool g; }; unsigned short h : 7 __attribute__((aligned(4))); };
// both: 72/8 a@0:12 b@32 b[0].a@32:10 b[0].b@48 b[0].c@96:29 b[0].d@128 c@288:20 d@320:18 e@338:26 f@384 g@448 h@512:7 param 8[72] result 8[72]
union S339 { };
// both: 1/1 param 1[1] result 1[1]
struct S340 { int a : 26; size_t b; };
// both: 16/8 a@0:26 b@64 param 8[16] result 8[16]
struct S341 { S30 a; short b; };
// nvcc: 16/8 a@0 a.a@0 a.b@8:39 b@64 param 8[16] result 8[16]
// clang: 16/8 a@0 a.a@0 a.b@8:39 b@64 param 8[16] result 2[16]
union S342 { double a[2] __attribute__((aligned(64))) __attribute__((packed)); unsigned short : 0; S49 b __attribute__((packed)); size_t c; };
// nvcc: 128/64 a@0 b@0 b.a@0 b.b@128 b.c@384 b.d@512 b.e@640 b.f@780:3 c@0 param 64[128] result 64[128]
// clang: 128/64 a@0 b@0 b.a@0 b.b@128 b.c@384 b.d@512 b.e@640 b.f@780:3 c@0 param 64[128] result 8[128]
struct S343 { long : 50; struct { unsigned int a : 14; long b : 43; long c : 26; int : 0; int d; long e : 53; }; E16 f : 15; unsigned __int128 g; unsigned int h : 7; };
// both: 80/16 a@64:14 b@78:43 c@128:26 d@160 e@192:53 f@256:15 g@384 h@512:7 param 16[80] result 16[80]
struct S344 { long long a : 26; };
// nvcc: 8/8 a@0:26 param 8[8] result 8[8]
// clang: 8/8 a@0:26 param 8[8] result 4[8]
struct S345 { long a __attribute__((packed)); struct { S141 b; unsigned char c : 4; unsigned short d : 10; long long e[2][1]; short1 f; char g : 6; }; int h; };
// both: 56/8 a@0 b@64 b.a@64:6 b.b@64 b.c@64 c@128:4 d@132:10 e@192 f@320 g@336:6 h@384 param 8[56] result 8[56]
union S346 { short a : 8 __attribute__((aligned(16))); unsigned long long b : 28; unsigned long c : 35; uchar2 d; unsigned char e; double f __attribute__((aligned(8))); };
// nvcc: 16/16 a@0:8 b@0:28 c@0:35 d@0 e@0 f@0 param 16[16] result 16[16]
// clang: 16/16 a@0:8 b@0:28 c@0:35 d@0 e@0 f@0 param 16[16] result 8[16]
struct S347 { E16 a; union { unsigned long long b : 45; unsigned int c : 11; signed char d : 2; unsigned char : 0; unsigned int e; }; S287 f; unsigned int g : 1; E64 h : 10 __attribute__((packed)); E32 : 15; };
// nvcc: 88/8 a@0 b@64:45 c@64:11 d@64:2 e@64 f@128 f.a@128 f.a[0].a@128 f.a[0].b@128:5 f.a[0].c@128 f.a[0].d@128 f.a[0].e@128:33 f.b@128:29 g@640:1 h@641:10 param 8[88] result 8[88]
// clang: 88/8 a@0 b@64:45 c@64:11 d@64:2 e@64 f@128 f.a@128 f.a[0].a@128 f.a[0].b@128:5 f.a[0].c@128 f.a[0].d@128 f.a[0].e@128:33 f.b@128:29 g@640:1 h@641:10 param 8[88] result 1[88]
union S348 { uint16_t : 0; long a; char b; uint64_t c; };
// both: 8/8 a@0 b@0 c@0 param 8[8] result 8[8]
struct __attribute__((aligned(16))) S349 { signed char a : 1; int8_t b[2]; };
// nvcc: 16/16 a@0:1 b@8 param 16[16] result 16[16]
// clang: 16/16 a@0:1 b@8 param 16[16] result 1[16]
struct S350 { uint16_t a : 11; long long b : 21; unsigned char c : 4; long : 0; struct { double3 d; }; };
// both: 32/8 a@0:11 b@11:21 c@32:4 d@64 param 8[32] result 8[32]
struct __attribute__((aligned(128))) S351 { E a; unsigned long b : 6; long long * c; double d; uint16_t e : 2; };
// nvcc: 128/128 a@0 b@32:6 c@64 d@128 e@192:2 param 128[128] result 128[128]
// clang: 128/128 a@0 b@32:6 c@64 d@128 e@192:2 param 128[128] result 8[128]
union __attribute__((aligned(32))) S352 { unsigned char a : 6 __attribute__((packed)); long long b : 25; unsigned long c : 33; char d __attribute__((packed)); unsigned int e : 7; };
// nvcc: 32/32 a@0:6 b@0:25 c@0:33 d@0 e@0:7 param 32[32] result 32[32]
// clang: 32/32 a@0:6 b@0:25 c@0:33 d@0 e@0:7 param 32[32] result 8[32]
union S353 { unsigned int a : 27 __attribute__((aligned(8))); int b : 12 __attribute__((packed)); long long c : 18; unsigned char : 6; E8 d : 4; };
// nvcc: 8/8 a@0:27 b@0:12 c@0:18 d@0:4 param 8[8] result 8[8]
// clang: 8/8 a@0:27 b@0:12 c@0:18 d@0:4 param 8[8] result 4[8]
struct S354 { int a : 4; unsigned long long b : 29; };
// both: 8/8 a@0:4 b@4:29 param 8[8] result 8[8]
struct S355 { int4 a; unsigned long long b : 32; long1 c; };
// nvcc: 32/16 a@0 b@128:32 c@192 param 16[32] result 16[32]
// clang: 32/16 a@0 b@128:32 c@192 param 16[32] result 8[32]
union __attribute__((aligned(32))) S356 { uint16_t a : 1; S159 b[3] __attribute__((aligned(1))); long c : 53; uint16_t d : 6; char e; short f : 13; };
// nvcc: 128/32 a@0:1 b@0 b[0].a@0 b[0].b@64 b[0].c@128:59 b[0].d@192 c@0:53 d@0:6 e@0 f@0:13 param 32[128] result 32[128]
// clang: 128/32 a@0:1 b@0 b[0].a@0 b[0].b@64 b[0].c@128:59 b[0].d@192 c@0:53 d@0:6 e@0 f@0:13 param 32[128] result 8[128]
struct S357 { unsigned int a; E8 b : 2; uint16_t : 15; unsigned long c : 57; };
// both: 16/8 a@0 b@32:2 c@64:57 param 8[16] result 8[16]
struct S358 { short1 a; short4 b; };
// nvcc: 16/8 a@0 b@64 param 8[16] result 8[16]
// clang: 16/8 a@0 b@64 param 8[16] result 2[16]
struct S359 { E8 a : 3 __attribute__((aligned(4))); float b; E64 c : 61; long long d : 29; int e : 12; };
// both: 24/8 a@0:3 b@32 c@64:61 d@128:29 e@160:12 param 8[24] result 8[24]
union S360 { unsigned int a; long long b; int c : 30; unsigned short d : 8; unsigned char e : 5; };
// both: 8/8 a@0 b@0 c@0:30 d@0:8 e@0:5 param 8[8] result 8[8]
struct S361 { int a : 31; unsigned int b : 4 __attribute__((aligned(32))) __attribute__((packed)); unsigned char c : 6; int d; };
// nvcc: 64/32 a@0:31 b@256:4 c@264:6 d@288 param 32[64] result 32[64]
// clang: 64/32 a@0:31 b@256:4 c@264:6 d@288 param 32[64] result 4[64]
struct S362 { unsigned long long a : 28 __attribute__((aligned(8))); signed char b : 5; union { S19 c; S268 d[3][3]; long long e : 57; E32 f[2]; }; int g : 2; unsigned int h : 6; long * i __attribute__((packed)); };
// nvcc: 1760/16 a@0:28 b@32:5 c@128 c.a@128 c.b@144 d@128 d[0][0].a@128:59 d[0][0].b@128 d[0][0].c@128 d[0][0].d@128:31 d[0][0].e@192 d[0][0].e.a@192:10 d[0][0].e.b@192:39 d[0][0].e.c@192 d[0][0].e.d@192 d[0][0].e.e@192:8 d[0][0].f@256:6 d[0][0].g@384:19 d[0][0].h@403:6 d[0][0].i@448 d[0][0].j@512 d[0][0].k@576:29 d[0][0].l@608 d[0][0].l.a@608 d[0][0].l.b@672:52 d[0][0].l.c@736 d[0][0].l.c.a@736:29 d[0][0].l.c.b@768:4 d[0][0].l.c.c@776:7 d[0][0].l.c.d@800:32 d[0][0].l.c.e@864:3 d[0][0].l.c.f@872 d[0][0].l.c.g@928 d[0][0].l.c.h@992 d[0][0].l.c.i@864 d[0][0].l.c.i.a@864:1 d[0][0].l.c.j@864 d[0][0].l.c.k@1136 d[0][0].l.c.l@1152 d[0][0].l.d@1184:16 d[0][0].l.e@1248 d[0][0].m@1424 d[0][0].n@1488:17 d[0][0].o@1505:1 d[0][0].p@1512:32 d[0][0].q@1600:34 e@128:57 f@128 g@13952:2 h@13954:6 i@13960 param 16[1760] result 16[1760]
// clang: 1760/16 a@0:28 b@32:5 c@128 c.a@128 c.b@144 d@128 d[0][0].a@128:59 d[0][0].b@128 d[0][0].c@128 d[0][0].d@128:31 d[0][0].e@192 d[0][0].e.a@192:10 d[0][0].e.b@192:39 d[0][0].e.c@192 d[0][0].e.d@192 d[0][0].e.e@192:8 d[0][0].f@256:6 d[0][0].g@384:19 d[0][0].h@403:6 d[0][0].i@448 d[0][0].j@512 d[0][0].k@576:29 d[0][0].l@608 d[0][0].l.a@608 d[0][0].l.b@672:52 d[0][0].l.c@736 d[0][0].l.c.a@736:29 d[0][0].l.c.b@768:4 d[0][0].l.c.c@776:7 d[0][0].l.c.d@800:32 d[0][0].l.c.e@864:3 d[0][0].l.c.f@872 d[0][0].l.c.g@928 d[0][0].l.c.h@992 d[0][0].l.c.i@864 d[0][0].l.c.i.a@864:1 d[0][0].l.c.j@864 d[0][0].l.c.k@1136 d[0][0].l.c.l@1152 d[0][0].l.d@1184:16 d[0][0].l.e@1248 d[0][0].m@1424 d[0][0].n@1488:17 d[0][0].o@1505:1 d[0][0].p@1512:32 d[0][0].q@1600:34 e@128:57 f@128 g@13952:2 h@13954:6 i@13960 param 16[1760] result 1[1760]
struct S363 { unsigned char a : 8; unsigned long b : 61; };
// both: 16/8 a@0:8 b@64:61 param 8[16] result 8[16]
struct S364 { signed char a : 4 __attribute__((packed)); long long b : 26; unsigned char c : 4; float d; int e : 1; };
// both: 16/8 a@0:4 b@4:26 c@32:4 d@64 e@96:1 param 8[16] result 8[16]
struct __attribute__((packed)) S365 { unsigned int a : 13; ulong1 b __attribute__((packed)); S110 c; char d : 6; struct { long long e : 11; long long f : 2; char g : 5; S115 h[2]; }; S31 i[4]; };
// nvcc: 132/1 a@0:13 b@16 c@80 c.a@80 c.b@88:13 c.c@104 c.d@152 c.e@216:16 c.f@248 c.g@280 d@344:6 e@352:11 f@363:2 g@368:5 h@416 h[0].a@416:64 i@544 i[0].a@544 i[0].b@560:2 i[0].c@562:34 i[0].d@608 param 4[132] result 1[132]
// clang: 132/1 a@0:13 b@16 c@80 c.a@80 c.b@88:13 c.c@104 c.d@152 c.e@216:16 c.f@248 c.g@280 d@344:6 e@352:11 f@363:2 g@368:5 h@416 h[0].a@416:64 i@544 i[0].a@544 i[0].b@560:2 i[0].c@562:34 i[0].d@608 param 1[132] result 1[132]
union __attribute__((aligned(8))) S366 { uint16_t a : 7; int : 0; };
// nvcc: 8/8 a@0:7 param 8[8] result 8[8]
// clang: 8/8 a@0:7 param 8[8] result 1[8]
struct S367 { };
// both: 1/1 param 1[1] result 1[1]
struct S368 { long long a : 48; int2 b; };
// both: 16/8 a@0:48 b@64 param 8[16] result 8[16]
struct S369 { S53 a; int8_t b; unsigned char * c; };
// nvcc: 192/16 a@0 a.a@0 a.b@256 a.b.a@256 a.b.b@512:26 a.b.c@640 a.b.c.a@640 a.b.c.a.a@640 a.b.c.b@640 a.b.c.c@640 a.b.d@768 a.b.e@1024:3 a.b.f@1027:1 a.b.g@1088 a.c@1280:41 a.d@1344:25 a.e@1376:22 b@1408 c@1472 param 16[192] result 16[192]
// clang: 192/16 a@0 a.a@0 a.b@256 a.b.a@256 a.b.b@512:26 a.b.c@640 a.b.c.a@640 a.b.c.a.a@640 a.b.c.b@640 a.b.c.c@640 a.b.d@768 a.b.e@1024:3 a.b.f@1027:1 a.b.g@1088 a.c@1280:41 a.d@1344:25 a.e@1376:22 b@1408 c@1472 param 16[192] result 8[192]
union S370 { unsigned int a : 31; short b; int c; E32 : 0; };
// both: 4/4 a@0:31 b@0 c@0 param 4[4] result 4[4]
struct S371 { unsigned long long a : 36; S195 b; longlong2 c __attribute__((packed)); char2 d; unsigned char e : 7; };
// both: 64/8 a@0:36 b@64 b.a@64 b.b@96 b.c@128 b.d@192:60 b.e@256:34 c@320 d@448 e@464:7 param 8[64] result 8[64]
union S372 { S197 a; long long b; };
// both: 32/16 a@0 a.a@0 a.b@128:1 a.c@129:12 b@0 param 16[32] result 16[32]
struct S373 { union { unsigned long a : 21; char b; S54 c[1][1]; unsigned char d : 4; S233 e; }; };
// both: 112/16 a@0:21 b@0 c@0 c[0][0].a@0:17 c[0][0].b@17:2 d@0:4 e@0 e.a@0:1 e.b@0 e.b.a@0:1 e.b.b@128:54 e.b.c@192 e.b.d@256 e.b.e@384 e.b.f@512 e.b.g@576 e.b.g.a@576 e.b.g.b@640:50 e.b.g.c@704 e.b.g.d@736 e.b.g.e@768 e.c@0:14 e.d@0:5 param 16[112] result 16[112]
struct S374 { short a; struct { long long b : 40; }; signed char c : 5; union { size_t * d[3]; bool e __attribute__((aligned(1))); char f[2]; E32 g : 32; }; bool h : 1; E32 i : 11; };
// both: 56/8 a@0 b@64:40 c@128:5 d@192 e@192 f@192 g@192:32 h@384:1 i@385:11 param 8[56] result 8[56]
union S375 { short a; signed char b : 7; S263 c; unsigned long long d : 52; };
// both: 40/8 a@0 b@0:7 c@0 c.a@0 c.b@64 c.b.a@64:22 c.b.b@86:28 c.b.c@114:6 c.b.d@128:9 c.c@192 c.d@256 d@0:52 param 8[40] result 8[40]
struct __attribute__((packed)) S376 { };
// both: 1/1 param 1[1] result 1[1]
union S377 { signed char a : 7; signed char b : 2; };
// both: 1/1 a@0:7 b@0:2 param 1[1] result 1[1]
union S378 { float a; double b; };
// both: 8/8 a@0 b@0 param 8[8] result 8[8]
union S379 { size_t * a[1]; };
// both: 8/8 a@0 param 8[8] result 8[8]
struct S380 { unsigned long long a : 54 __attribute__((packed)); };
// both: 7/1 a@0:54 param 1[7] result 1[7]
struct S381 { unsigned short a : 9; int b : 32; union { char c : 3; short d : 1; unsigned short : 1; unsigned char e; }; unsigned short f : 11; unsigned char g : 7 __attribute__((aligned(4))); };
// both: 16/4 a@0:9 b@32:32 c@64:3 d@64:1 e@64 f@80:11 g@96:7 param 4[16] result 4[16]
struct S382 { short : 0; uint4 a[2]; int : 31; unsigned int b; };
// nvcc: 48/16 a@0 b@288 param 16[48] result 16[48]
// clang: 48/16 a@0 b@288 param 16[48] result 4[48]
struct S383 { short a : 11; struct { unsigned int b : 27; size_t c; char : 0; long : 0; S257 d; }; int8_t * e; char f; };
// both: 48/8 a@0:11 b@64:27 c@128 d@192 d.a@192:5 d.b@198:20 e@256 f@320 param 8[48] result 8[48]
struct S384 { unsigned char a; union { unsigned char * b; float c; bool d __attribute__((aligned(8))); float3 e[1][2] __attribute__((aligned(2))); }; };
// both: 32/8 a@0 b@64 c@64 d@64 e@64 param 8[32] result 8[32]
struct S385 { unsigned char a : 5 __attribute__((aligned(2))); long long b : 9; uchar1 c; int * d __attribute__((packed)); E32 e __attribute__((aligned(8))); long f : 10; };
// nvcc: 24/8 a@0:5 b@5:9 c@16 d@24 e@128 f@160:10 param 8[24] result 8[24]
// clang: 24/8 a@0:5 b@5:9 c@16 d@24 e@128 f@160:10 param 8[24] result 1[24]
struct S386 { size_t * a __attribute__((packed)); long b : 26; long c[2]; };
// both: 32/8 a@0 b@64:26 c@128 param 8[32] result 8[32]
struct __attribute__((packed)) __attribute__((aligned(128))) S387 { unsigned char a : 5; unsigned char b : 3 __attribute__((packed)); uint16_t c : 2; uint64_t d; uchar3 e; };
// nvcc: 128/128 a@0:5 b@5:3 c@8:2 d@16 e@80 param 128[128] result 128[128]
// clang: 128/128 a@0:5 b@5:3 c@8:2 d@16 e@80 param 128[128] result 1[128]
struct __attribute__((aligned(1))) S388 { E64 a : 5; uint64_t b; unsigned char c : 4; unsigned long d : 37 __attribute__((aligned(32))); };
// nvcc: 64/32 a@0:5 b@64 c@128:4 d@256:37 param 32[64] result 32[64]
// clang: 64/32 a@0:5 b@64 c@128:4 d@256:37 param 32[64] result 8[64]
struct S389 { unsigned short a : 5; bool b : 1; signed char : 1; long long c; uchar3 d; };
// both: 24/8 a@0:5 b@5:1 c@64 d@128 param 8[24] result 8[24]
struct S390 { long long a : 56; int b; int c : 15; };
// both: 16/8 a@0:56 b@64 c@96:15 param 8[16] result 8[16]
union S391 { S331 a[2]; signed char b : 5; E32 c : 5; };
// both: 48/8 a@0 a[0].a@0 a[0].b@16 a[0].c@64 a[0].d@128 b@0:5 c@0:5 param 8[48] result 8[48]
struct __attribute__((aligned(16))) S392 { S128 a[2][4]; E32 b : 21; };
// both: 400/16 a@0 a[0][0].a@0 a[0][0].b@192 a[0][0].b.a@192:29 a[0][0].b.b@221:1 a[0][0].b.c@224 a[0][0].c@256 b@3072:21 param 16[400] result 16[400]
struct S393 { short a : 16; unsigned long long : 54; unsigned int b : 15; };
// nvcc: 20/4 a@0:16 b@128:15 param 4[20] result 4[20]
// clang: 20/4 a@0:16 b@128:15 param 4[20] result 2[20]
struct S394 { unsigned int a : 1; char b; double c __attribute__((aligned(4))); size_t d[3]; int e : 26; float1 f; };
// both: 48/8 a@0:1 b@8 c@64 d@128 e@320:26 f@352 param 8[48] result 8[48]
struct __attribute__((aligned(4))) S395 { short3 a; };
// nvcc: 8/4 a@0 param 4[8] result 4[8]
// clang: 8/4 a@0 param 4[8] result 2[8]
union S396 { struct { char2 a; ulong2 b; }; };
// nvcc: 32/16 a@0 b@128 param 16[32] result 16[32]
// clang: 32/16 a@0 b@128 param 16[32] result 8[32]
struct S397 { unsigned __int128 a; struct { size_t b[3]; }; long c : 30; unsigned long long d : 45; unsigned int e : 26; short f : 1; };
// both: 64/16 a@0 b@128 c@320:30 d@384:45 e@448:26 f@474:1 param 16[64] result 16[64]
struct __attribute__((packed)) S398 { unsigned int a : 14; };
// nvcc: 2/1 a@0:14 param 1[2] result 1[2]
// clang: 2/1 a@0:14 param 2[2] result 2[2]
struct S399 { int a : 28; unsigned int b : 4; ulong3 c; long long d; int8_t * e __attribute__((aligned(4))); double * f; };
// both: 56/8 a@0:28 b@28:4 c@64 d@256 e@320 f@384 param 8[56] result 8[56]
struct S400 { E32 : 28; S76 a; };
// both: 16/4 a@32 a.a@32:1 a.b@64 param 4[16] result 4[16]
struct S401 { int a : 4; union { unsigned long long b : 59; longlong4 c; int d : 31; unsigned __int128 e; }; ulong2 f[1]; uint16_t g : 13; unsigned int h : 18; unsigned __int128 * i; };
// both: 80/16 a@0:4 b@128:59 c@128 d@128:31 e@128 f@384 g@512:13 h@525:18 i@576 param 16[80] result 16[80]
struct S402 { E64 a : 19; ulong1 b; E64 c; unsigned long d : 7; unsigned __int128 e[1][1]; long long f; };
// both: 64/16 a@0:19 b@64 c@128 d@192:7 e@256 f@384 param 16[64] result 16[64]
struct S403 { unsigned long long a : 17; signed char : 0; S153 b[2]; };
// both: 40/8 a@0:17 b@64 b[0].a@64:62 b[0].b@128 param 8[40] result 8[40]
struct S404 { S163 a[4]; char * b; };
// both: 40/8 a@0 a[0].a@0:18 b@256 param 8[40] result 8[40]
union S405 { unsigned char a : 6; S375 b; S181 c __attribute__((packed)); unsigned int d : 19; };
// both: 192/8 a@0:6 b@0 b.a@0 b.b@0:7 b.c@0 b.c.a@0 b.c.b@64 b.c.b.a@64:22 b.c.b.b@86:28 b.c.b.c@114:6 b.c.b.d@128:9 b.c.c@192 b.c.d@256 b.d@0:52 c@0 c.a@0:18 c.b@32:22 c.c@56:6 c.d@256:12 c.e@288 c.f@512:17 c.g@576 c.h@768:23 c.i@800:28 c.j@1024 c.j.a@1024 c.j.b@1032:1 c.j.c@1088 c.k@1024 c.l@1024:26 c.m@1024 c.n@1024 c.o@1024 c.p@1280 d@0:19 param 8[192] result 8[192]
struct S406 { int a; signed char b : 8; char c : 3; unsigned long d : 30; unsigned int e : 12; };
// both: 16/8 a@0 b@32:8 c@40:3 d@64:30 e@96:12 param 8[16] result 8[16]
struct S407 { char a; ulonglong1 b; float c[4]; bool d[2]; short e : 9; E16 f : 11; };
// both: 40/8 a@0 b@64 c@128 d@256 e@272:9 f@288:11 param 8[40] result 8[40]
union S408 { unsigned int a : 19; };
// both: 4/4 a@0:19 param 4[4] result 4[4]
union S409 { E32 a : 2; };
// nvcc: 4/4 a@0:2 param 4[4] result 4[4]
// clang: 4/4 a@0:2 param 4[4] result 1[4]
struct S410 { uint64_t a __attribute__((aligned(2))); unsigned int b : 30; };
// both: 16/8 a@0 b@64:30 param 8[16] result 8[16]
struct S411 { short4 a[3]; unsigned short b : 11; signed char c : 4; struct { signed char : 0; uchar4 d; longlong2 e[1][2]; E8 f : 5; }; S53 g; union { unsigned int h : 2; E8 i : 6; int8_t j; E64 k __attribute__((aligned(64))); unsigned char l; char m; }; };
// nvcc: 384/64 a@0 b@192:11 c@203:4 d@256 e@384 f@640:5 g@768 g.a@768 g.b@1024 g.b.a@1024 g.b.b@1280:26 g.b.c@1408 g.b.c.a@1408 g.b.c.a.a@1408 g.b.c.b@1408 g.b.c.c@1408 g.b.d@1536 g.b.e@1792:3 g.b.f@1795:1 g.b.g@1856 g.c@2048:41 g.d@2112:25 g.e@2144:22 h@2560:2 i@2560:6 j@2560 k@2560 l@2560 m@2560 param 64[384] result 64[384]
// clang: 384/64 a@0 b@192:11 c@203:4 d@256 e@384 f@640:5 g@768 g.a@768 g.b@1024 g.b.a@1024 g.b.b@1280:26 g.b.c@1408 g.b.c.a@1408 g.b.c.a.a@1408 g.b.c.b@1408 g.b.c.c@1408 g.b.d@1536 g.b.e@1792:3 g.b.f@1795:1 g.b.g@1856 g.c@2048:41 g.d@2112:25 g.e@2144:22 h@2560:2 i@2560:6 j@2560 k@2560 l@2560 m@2560 param 64[384] result 8[384]
struct __attribute__((packed)) S412 { unsigned __int128 a; signed char b : 6; int c[4]; signed char d : 5; signed char e : 5; };
// both: 35/1 a@0 b@128:6 c@136 d@264:5 e@269:5 param 1[35] result 1[35]
union S413 { double4 a; long b : 28; };
// nvcc: 32/16 a@0 b@0:28 param 16[32] result 16[32]
// clang: 32/16 a@0 b@0:28 param 16[32] result 8[32]
union __attribute__((aligned(1))) S414 { bool a; short1 b; double * c; uchar1 d; char e : 1; unsigned int f[1][4]; };
// both: 16/8 a@0 b@0 c@0 d@0 e@0:1 f@0 param 8[16] result 8[16]
struct S415 { unsigned char a : 4 __attribute__((packed)); signed char b : 5; char c __attribute__((aligned(32))); short d : 3; unsigned int * e; E64 : 0; };
// nvcc: 64/32 a@0:4 b@8:5 c@256 d@264:3 e@320 param 32[64] result 32[64]
// clang: 64/32 a@0:4 b@8:5 c@256 d@264:3 e@320 param 32[64] result 8[64]
struct S416 { unsigned int a : 20; long b; struct { char1 c; signed char d : 1 __attribute__((aligned(2))); long3 e[3]; }; unsigned char f; int : 8; };
// both: 104/8 a@0:20 b@64 c@128 d@144:1 e@192 f@768 param 8[104] result 8[104]
struct S417 { E8 a : 2; long b : 48; S70 c; unsigned long long d : 44; size_t e; struct { uint16_t f : 16 __attribute__((aligned(32))); unsigned long long g : 2; long h : 38; int i : 7; uint16_t j : 6; union __attribute__((aligned(16))) { short3 k __attribute__((aligned(8))); char l : 1; int m : 3; char3 n; }; }; };
// nvcc: 128/32 a@0:2 b@2:48 c@56 c.a@56:25 c.b@56:2 c.c@56 c.c.a@56 c.c.b@184:41 c.c.c@248 c.c.d@440:27 c.d@56 d@576:44 e@640 f@768:16 g@784:2 h@786:38 i@824:7 j@832:6 k@896 l@896:1 m@896:3 n@896 param 32[128] result 32[128]
// clang: 128/32 a@0:2 b@2:48 c@56 c.a@56:25 c.b@56:2 c.c@56 c.c.a@56 c.c.b@184:41 c.c.c@248 c.c.d@440:27 c.d@56 d@576:44 e@640 f@768:16 g@784:2 h@786:38 i@824:7 j@832:6 k@896 l@896:1 m@896:3 n@896 param 32[128] result 1[128]
struct S418 { E16 a : 12; int b __attribute__((packed)); S348 c; signed char d : 4 __attribute__((aligned(1))); unsigned int e : 22; };
// nvcc: 24/8 a@0:12 b@16 c@64 c.a@64 c.b@64 c.c@64 d@128:4 e@132:22 param 8[24] result 8[24]
// clang: 24/8 a@0:12 b@16 c@64 c.a@64 c.b@64 c.c@64 d@128:4 e@132:22 param 8[24] result 1[24]
struct __attribute__((aligned(1))) S419 { int a : 17; unsigned char b : 7; long1 c; uint16_t d : 14; uint16_t e : 12; };
// both: 24/8 a@0:17 b@17:7 c@64 d@128:14 e@144:12 param 8[24] result 8[24]
union S420 { unsigned short : 0; unsigned long a : 7; S103 b[1]; E32 c[1][1]; };
// both: 24/8 a@0:7 b@0 b[0].a@0 b[0].b@64:6 b[0].c@70:8 b[0].d@96:28 b[0].e@128:35 c@0 param 8[24] result 8[24]
struct S421 { S314 a; };
// nvcc: 32/32 a@0 a.a@0 a.b@0:17 a.c@0 a.d@0 a.e@0:5 param 32[32] result 32[32]
// clang: 32/32 a@0 a.a@0 a.b@0:17 a.c@0 a.d@0 a.e@0:5 param 32[32] result 16[32]
struct S422 { S68 a; S325 b; };
// nvcc: 192/64 a@0 a.a@0:16 a.b@0 a.c@0 b@512 b.a@512 b.a.a@512 b.a.b@576:2 b.b@1024:48 b.c@1072:2 param 64[192] result 64[192]
// clang: 192/64 a@0 a.a@0:16 a.b@0 a.c@0 b@512 b.a@512 b.a.a@512 b.a.b@576:2 b.b@1024:48 b.c@1072:2 param 64[192] result 8[192]
union S423 { unsigned __int128 a[3][1] __attribute__((aligned(32))); };
// nvcc: 64/32 a@0 param 32[64] result 32[64]
// clang: 64/32 a@0 param 32[64] result 16[64]
struct S424 { double2 a; long long : 51; char b : 3; };
// nvcc: 32/16 a@0 b@179:3 param 16[32] result 16[32]
// clang: 32/16 a@0 b@179:3 param 16[32] result 8[32]
struct S425 { char * a; };
// both: 8/8 a@0 param 8[8] result 8[8]
struct S426 { long long : 28; };
// nvcc: 4/1 param 1[4] result 1[4]
// clang: 4/1 param 4[4] result 4[4]
union S427 { S412 a; int b; unsigned long c : 18; S62 d; unsigned int e : 3 __attribute__((aligned(32))); };
// nvcc: 128/64 a@0 a.a@0 a.b@128:6 a.c@136 a.d@264:5 a.e@269:5 b@0 c@0:18 d@0 d.a@0 d.b@64 d.b.a@64:3 d.b.b@67:12 d.b.c@80:8 d.b.d@88:7 d.b.e@96 d.c@512:14 e@0:3 param 64[128] result 64[128]
// clang: 128/64 a@0 a.a@0 a.b@128:6 a.c@136 a.d@264:5 a.e@269:5 b@0 c@0:18 d@0 d.a@0 d.b@64 d.b.a@64:3 d.b.b@67:12 d.b.c@80:8 d.b.d@88:7 d.b.e@96 d.c@512:14 e@0:3 param 64[128] result 4[128]
struct S428 { unsigned int a : 29 __attribute__((aligned(4))); int b[2][4]; long c : 19; int : 21; unsigned long d : 3 __attribute__((packed)); unsigned char e; };
// nvcc: 48/8 a@0:29 b@32 c@288:19 d@341:3 e@344 param 8[48] result 8[48]
// clang: 48/8 a@0:29 b@32 c@288:19 d@341:3 e@344 param 8[48] result 4[48]
struct S429 { ushort1 a __attribute__((aligned(8))); long long * b; int c : 24; float d; bool e[4] __attribute__((aligned(2))); };
// both: 32/8 a@0 b@64 c@128:24 d@160 e@192 param 8[32] result 8[32]
struct S430 { signed char a : 8; };
// both: 1/1 a@0:8 param 1[1] result 1[1]
struct S431 { float a; signed char b : 6 __attribute__((packed)); };
// both: 8/4 a@0 b@32:6 param 4[8] result 4[8]
struct S432 { unsigned short a : 15; unsigned int b : 1; int c; };
// both: 8/4 a@0:15 b@15:1 c@32 param 4[8] result 4[8]
union S433 { unsigned char a[4]; long long b; bool c : 1; short d : 7; unsigned int e[1]; signed char f : 4; };
// both: 8/8 a@0 b@0 c@0:1 d@0:7 e@0 f@0:4 param 8[8] result 8[8]
struct S434 { short a : 4; int b : 20 __attribute__((aligned(4))); short c : 5; float d; char e[2]; unsigned long f : 43; };
// both: 24/8 a@0:4 b@32:20 c@52:5 d@64 e@96 f@128:43 param 8[24] result 8[24]
struct S435 { unsigned char a : 4; E16 b; unsigned char c : 2; uint3 d; int : 0; int e : 3 __attribute__((aligned(4))); };
// both: 24/4 a@0:4 b@16 c@32:2 d@64 e@160:3 param 4[24] result 4[24]
union S436 { long long : 38; char a; uint16_t b : 16; unsigned __int128 c; };
// both: 16/16 a@0 b@0:16 c@0 param 16[16] result 16[16]
union __attribute__((packed)) S437 { int a : 6; signed char b : 8; char c; S60 d; double4 e; };
// nvcc: 32/1 a@0:6 b@0:8 c@0 d@0 d.a@0 d.b@32 e@0 param 1[32] result 1[32]
// clang: 32/1 a@0:6 b@0:8 c@0 d@0 d.a@0 d.b@32 e@0 param 8[32] result 8[32]
struct S438 { bool : 1; uint64_t a[1]; longlong3 b; signed char c : 8; E32 d : 31; short : 16; };
// both: 56/8 a@64 b@128 c@320:8 d@352:31 param 8[56] result 8[56]
union S439 { float4 a; char b; char c; };
// nvcc: 16/16 a@0 b@0 c@0 param 16[16] result 16[16]
// clang: 16/16 a@0 b@0 c@0 param 16[16] result 4[16]
struct S440 { unsigned long a : 10; char b[1] __attribute__((aligned(32))); short c : 5; unsigned int d : 31 __attribute__((aligned(64))); };
// nvcc: 128/64 a@0:10 b@256 c@264:5 d@512:31 param 64[128] result 64[128]
// clang: 128/64 a@0:10 b@256 c@264:5 d@512:31 param 64[128] result 4[128]
union __attribute__((packed)) S441 { long long a; char4 b; double c; double d; };
// nvcc: 8/1 a@0 b@0 c@0 d@0 param 1[8] result 1[8]
// clang: 8/1 a@0 b@0 c@0 d@0 param 8[8] result 8[8]
struct S442 { int a : 26; long b : 14; int c : 23; int d : 15; E32 e : 25 __attribute__((aligned(4))); };
// both: 16/8 a@0:26 b@26:14 c@40:23 d@64:15 e@96:25 param 8[16] result 8[16]
struct S443 { S435 a; long b; float * c; };
// both: 40/8 a@0 a.a@0:4 a.b@16 a.c@32:2 a.d@64 a.e@160:3 b@192 c@256 param 8[40] result 8[40]
union S444 { E16 : 13; unsigned int a : 25; char b; signed char c : 2; };
// both: 4/4 a@0:25 b@0 c@0:2 param 4[4] result 4[4]
struct S445 { struct __attribute__((aligned(64))) { unsigned short a : 10; E8 b : 2; }; };
// nvcc: 64/64 a@0:10 b@10:2 param 64[64] result 64[64]
// clang: 64/64 a@0:10 b@10:2 param 64[64] result 2[64]
struct S446 { uint16_t a : 2; };
// nvcc: 2/2 a@0:2 param 2[2] result 2[2]
// clang: 2/2 a@0:2 param 2[2] result 1[2]
struct S447 { long long : 23; };
// both: 3/1 param 1[3] result 1[3]
struct S448 { S45 a; uchar1 b; long c : 15; };
// nvcc: 64/32 a@0 a.a@0 a.b@32:2 a.c@34:4 a.d@128 b@256 c@264:15 param 32[64] result 32[64]
// clang: 64/32 a@0 a.a@0 a.b@32:2 a.c@34:4 a.d@128 b@256 c@264:15 param 32[64] result 1[64]
struct S449 { long long : 16 __attribute__((packed)); };
// nvcc: 2/1 param 1[2] result 1[2]
// clang: 2/1 param 2[2] result 2[2]
struct S450 { int a; };
// both: 4/4 a@0 param 4[4] result 4[4]
union S451 { char a : 6; S237 b __attribute__((aligned(32))); signed char c : 1; short d : 6; S412 e[3]; unsigned int f : 13; };
// nvcc: 128/32 a@0:6 b@0 b.a@0:18 c@0:1 d@0:6 e@0 e[0].a@0 e[0].b@128:6 e[0].c@136 e[0].d@264:5 e[0].e@269:5 f@0:13 param 32[128] result 32[128]
// clang: 128/32 a@0:6 b@0 b.a@0:18 c@0:1 d@0:6 e@0 e[0].a@0 e[0].b@128:6 e[0].c@136 e[0].d@264:5 e[0].e@269:5 f@0:13 param 32[128] result 8[128]
union S452 { };
// both: 1/1 param 1[1] result 1[1]
union S453 { short a; char b[3]; long long c : 3 __attribute__((packed)); char d; long e : 50; };
// both: 8/8 a@0 b@0 c@0:3 d@0 e@0:50 param 8[8] result 8[8]
union S454 { uint64_t a; float1 b; size_t c; };
// both: 8/8 a@0 b@0 c@0 param 8[8] result 8[8]
struct __attribute__((packed)) S455 { long a : 15; int8_t b; long long * c; unsigned long long d : 23; unsigned char e : 6; };
// both: 15/1 a@0:15 b@16 c@24 d@88:23 e@111:6 param 1[15] result 1[15]
struct S456 { char2 a; uint16_t b : 1; };
// nvcc: 4/2 a@0 b@16:1 param 2[4] result 2[4]
// clang: 4/2 a@0 b@16:1 param 2[4] result 1[4]
struct S457 { };
// both: 1/1 param 1[1] result 1[1]
struct S458 { bool a : 1; longlong4 b[4]; unsigned __int128 c; };
// both: 160/16 a@0:1 b@128 c@1152 param 16[160] result 16[160]
struct S459 { unsigned long long a : 10; short4 b __attribute__((aligned(32))); float * c; };
// nvcc: 64/32 a@0:10 b@256 c@320 param 32[64] result 32[64]
// clang: 64/32 a@0:10 b@256 c@320 param 32[64] result 8[64]
struct S460 { struct { E64 : 0; unsigned short a : 5; }; struct { unsigned __int128 b __attribute__((aligned(64))); double1 c; ushort1 d; E64 e[1]; struct { int8_t f; unsigned int g : 30; unsigned __int128 h; unsigned short i : 6; }; }; };
// nvcc: 192/64 a@0:5 b@512 c@640 d@704 e@768 f@896 g@928:30 h@1024 i@1152:6 param 64[192] result 64[192]
// clang: 192/64 a@0:5 b@512 c@640 d@704 e@768 f@896 g@928:30 h@1024 i@1152:6 param 64[192] result 16[192]
struct S461 { short a __attribute__((aligned(64))); bool : 0; unsigned long long b : 35; unsigned short c : 10; };
// nvcc: 64/64 a@0 b@16:35 c@51:10 param 64[64] result 64[64]
// clang: 64/64 a@0 b@16:35 c@51:10 param 64[64] result 2[64]
struct S462 { short a : 8; };
// nvcc: 2/2 a@0:8 param 2[2] result 2[2]
// clang: 2/2 a@0:8 param 2[2] result 1[2]
struct S463 { char a : 6; unsigned short b : 16; bool c : 1; E64 d : 48; };
// both: 16/8 a@0:6 b@16:16 c@32:1 d@64:48 param 8[16] result 8[16]
struct S464 { unsigned long : 0; };
// both: 1/1 param 1[1] result 1[1]
struct S465 { unsigned int a : 8; E8 : 1; };
// nvcc: 4/4 a@0:8 param 4[4] result 4[4]
// clang: 4/4 a@0:8 param 4[4] result 2[4]
union S466 { longlong3 a; };
// both: 24/8 a@0 param 8[24] result 8[24]
union S467 { struct __attribute__((aligned(64))) { bool a : 1; }; uint16_t b : 7; unsigned int c : 14 __attribute__((aligned(8))); int d; int e : 26; };
// nvcc: 64/64 a@0:1 b@0:7 c@0:14 d@0 e@0:26 param 64[64] result 64[64]
// clang: 64/64 a@0:1 b@0:7 c@0:14 d@0 e@0:26 param 64[64] result 4[64]
union __attribute__((packed)) S468 { E32 a : 8; short b; size_t c[1][2]; };
// nvcc: 16/1 a@0:8 b@0 c@0 param 1[16] result 1[16]
// clang: 16/1 a@0:8 b@0 c@0 param 8[16] result 8[16]
struct S469 { unsigned long long a : 31 __attribute__((packed)); unsigned long : 0; short b; long long c : 11 __attribute__((packed)); S125 d[3]; };
// nvcc: 448/64 a@0:31 b@64 c@80:11 d@512 d[0].a@512 d[0].b@768:5 d[0].c@1024:4 d[0].d@1028:1 param 64[448] result 64[448]
// clang: 448/64 a@0:31 b@64 c@80:11 d@512 d[0].a@512 d[0].b@768:5 d[0].c@1024:4 d[0].d@1028:1 param 64[448] result 8[448]
union S470 { S198 a; unsigned int b : 2; unsigned int c : 1; unsigned long long d : 19 __attribute__((aligned(16))); };
// nvcc: 224/32 a@0 a.a@0:2 a.b@8 a.c@1032:8 a.d@1088 a.d.a@1088:29 a.d.b@1120:4 a.d.c@1128:7 a.d.d@1152:32 a.d.e@1216:3 a.d.f@1224 a.d.g@1280 a.d.h@1344 a.d.i@1216 a.d.i.a@1216:1 a.d.j@1216 a.d.k@1488 a.d.l@1504 a.e@1536:15 b@0:2 c@0:1 d@0:19 param 32[224] result 32[224]
// clang: 224/32 a@0 a.a@0:2 a.b@8 a.c@1032:8 a.d@1088 a.d.a@1088:29 a.d.b@1120:4 a.d.c@1128:7 a.d.d@1152:32 a.d.e@1216:3 a.d.f@1224 a.d.g@1280 a.d.h@1344 a.d.i@1216 a.d.i.a@1216:1 a.d.j@1216 a.d.k@1488 a.d.l@1504 a.e@1536:15 b@0:2 c@0:1 d@0:19 param 32[224] result 4[224]
struct S471 { int a : 25; float b; };
// both: 8/4 a@0:25 b@32 param 4[8] result 4[8]
union S472 { short a : 14; unsigned char b : 2; };
// both: 2/2 a@0:14 b@0:2 param 2[2] result 2[2]
union S473 { struct { long a : 5; E32 b : 13; unsigned char : 3; longlong3 c; E32 d : 12; }; long long : 0; char e; };
// both: 40/8 a@0:5 b@5:13 c@64 d@256:12 e@0 param 8[40] result 8[40]
struct S474 { float a __attribute__((aligned(1))); float * b[1][4]; uint64_t c; unsigned char d; };
// both: 56/8 a@0 b@64 c@320 d@384 param 8[56] result 8[56]
struct S475 { E64 a : 38; uint64_t b; E64 c : 16; long d : 18; int e; unsigned char f; };
// both: 32/8 a@0:38 b@64 c@128:16 d@144:18 e@192 f@224 param 8[32] result 8[32]
union __attribute__((packed)) S476 { int a : 4 __attribute__((packed)); };
// both: 1/1 a@0:4 param 1[1] result 1[1]
struct __attribute__((packed)) S477 { unsigned char : 3; short a __attribute__((aligned(1))); signed char b : 1; size_t c; long d __attribute__((aligned(2))); };
// nvcc: 20/2 a@8 b@24:1 c@32 d@96 param 2[20] result 2[20]
// clang: 20/2 a@8 b@24:1 c@32 d@96 param 2[20] result 1[20]
struct S478 { struct __attribute__((packed)) { unsigned long long a : 46; struct __attribute__((packed)) __attribute__((aligned(4))) { unsigned int b; uint4 c; size_t d; }; E16 e : 5; unsigned long f : 61 __attribute__((aligned(64))); unsigned int g; }; float h[2]; signed char i : 2; struct { struct __attribute__((packed)) __attribute__((aligned(128))) { S430 j; }; unsigned long long k : 58; }; unsigned char l : 1; unsigned int m : 32; };
// nvcc: 640/128 a@0:46 b@48 c@80 d@208 e@272:5 f@512:61 g@576 h@1024 i@1088:2 j@2048 j.a@2048:8 k@3072:58 l@4096:1 m@4128:32 param 128[640] result 128[640]
// clang: 640/128 a@0:46 b@48 c@80 d@208 e@272:5 f@512:61 g@576 h@1024 i@1088:2 j@2048 j.a@2048:8 k@3072:58 l@4096:1 m@4128:32 param 128[640] result 8[640]
struct S479 { };
// both: 1/1 param 1[1] result 1[1]
union S480 { unsigned long a : 29; E32 b : 7 __attribute__((packed)); char c __attribute__((packed)); };
// nvcc: 8/8 a@0:29 b@0:7 c@0 param 8[8] result 8[8]
// clang: 8/8 a@0:29 b@0:7 c@0 param 8[8] result 4[8]
struct S481 { struct { short a : 13; struct __attribute__((aligned(4))) { int b : 29; short c : 6; unsigned short d : 3 __attribute__((packed)); S136 e; }; struct { float * f; struct { ushort1 g[3]; E h; }; long i; struct { short j; }; }; longlong2 k; }; E8 l; long : 0; short m : 1; };
// nvcc: 96/16 a@0:13 b@32:29 c@64:6 d@70:3 e@80 f@128 g@192 h@256 i@320 j@384 k@512 l@640 m@704:1 param 16[96] result 16[96]
// clang: 96/16 a@0:13 b@32:29 c@64:6 d@70:3 e@80 f@128 g@192 h@256 i@320 j@384 k@512 l@640 m@704:1 param 16[96] result 8[96]
struct __attribute__((aligned(1))) S482 { unsigned int : 0; size_t * a; E8 : 8; signed char : 4; E16 b : 1; unsigned char : 4; };
// both: 16/8 a@0 b@76:1 param 8[16] result 8[16]
struct __attribute__((packed)) S483 { struct { unsigned int a : 27; }; unsigned char b : 7; size_t c; unsigned int d : 2; };
// both: 14/1 a@0:27 b@32:7 c@40 d@104:2 param 1[14] result 1[14]
struct S484 { unsigned int a : 27 __attribute__((aligned(4))); };
// both: 4/4 a@0:27 param 4[4] result 4[4]
union S485 { unsigned long a : 57; char b; };
// both: 8/8 a@0:57 b@0 param 8[8] result 8[8]
struct S486 { char a : 5; long b : 40; unsigned int c : 3; unsigned __int128 d[3][4]; struct { struct __attribute__((packed)) { int e; }; float f __attribute__((aligned(1))); unsigned long : 11; }; };
// both: 224/16 a@0:5 b@5:40 c@45:3 d@128 e@1664 f@1696 param 16[224] result 16[224]
struct __attribute__((aligned(4))) S487 { uint16_t : 2; struct { unsigned __int128 a; }; unsigned int b : 8; signed char c : 4; };
// both: 48/16 a@128 b@256:8 c@264:4 param 16[48] result 16[48]
struct S488 { int8_t * a __attribute__((aligned(16))); };
// nvcc: 16/16 a@0 param 16[16] result 16[16]
// clang: 16/16 a@0 param 16[16] result 8[16]
union S489 { long a; longlong1 b[2][4]; bool c : 1; char d; S381 e; unsigned long long f : 23; };
// both: 64/8 a@0 b@0 c@0:1 d@0 e@0 e.a@0:9 e.b@32:32 e.c@64:3 e.d@64:1 e.e@64 e.f@80:11 e.g@96:7 f@0:23 param 8[64] result 8[64]
struct __attribute__((aligned(64))) S490 { unsigned long long : 0; };
// nvcc: 64/64 param 64[64] result 64[64]
// clang: 64/64 param 64[64] result 1[64]
struct S491 { unsigned char a; struct __attribute__((aligned(4))) { E16 b : 2; }; unsigned int c; struct { unsigned int * d; unsigned char : 2; }; long e : 11; uint16_t : 5 __attribute__((packed)); };
// both: 40/8 a@0 b@32:2 c@64 d@128 e@256:11 param 8[40] result 8[40]
struct __attribute__((packed)) S492 { struct { char a[3][2] __attribute__((packed)); long long : 0; long long b : 16; }; unsigned int : 1; struct { uint4 c; uint1 d __attribute__((aligned(8))); }; };
// both: 49/1 a@0 b@64:16 c@136 d@264 param 1[49] result 1[49]
struct S493 { unsigned long long a : 17; uchar4 b; struct __attribute__((packed)) { long3 c; union { E16 d : 14 __attribute__((aligned(32))); }; }; };
// both: 64/8 a@0:17 b@32 c@64 d@256:14 param 8[64] result 8[64]
struct S494 { double * a; long long b : 14; unsigned int c : 2; };
// both: 16/8 a@0 b@64:14 c@78:2 param 8[16] result 8[16]
struct S495 { unsigned short a : 11; short * b[3]; unsigned int c : 31; E64 d : 49; long e : 18; unsigned char f : 3; };
// both: 56/8 a@0:11 b@64 c@256:31 d@320:49 e@384:18 f@402:3 param 8[56] result 8[56]
struct S496 { long a[1][3]; unsigned int b : 7; size_t c[2][4]; };
// both: 96/8 a@0 b@192:7 c@256 param 8[96] result 8[96]
union S497 { unsigned long long a : 15; unsigned char b __attribute__((packed)); signed char c : 8; unsigned int d : 5; };
// nvcc: 8/8 a@0:15 b@0 c@0:8 d@0:5 param 8[8] result 8[8]
// clang: 8/8 a@0:15 b@0 c@0:8 d@0:5 param 8[8] result 2[8]
struct __attribute__((packed)) S498 { ulonglong4 a __attribute__((aligned(64))); float b __attribute__((packed)); };
// nvcc: 64/64 a@0 b@256 param 64[64] result 64[64]
// clang: 64/64 a@0 b@256 param 64[64] result 8[64]
struct S499 { long long a : 3; };
// nvcc: 8/8 a@0:3 param 8[8] result 8[8]
// clang: 8/8 a@0:3 param 8[8] result 1[8]
struct S500 { unsigned int a : 7; long : 0; };
// nvcc: 8/4 a@0:7 param 4[8] result 4[8]
// clang: 8/4 a@0:7 param 4[8] result 1[8]
struct S501 { E64 a : 21; int b : 25; unsigned short c : 15; };
// both: 16/8 a@0:21 b@32:25 c@64:15 param 8[16] result 8[16]
struct S502 { short a : 2 __attribute__((aligned(16))); };
// nvcc: 16/16 a@0:2 param 16[16] result 16[16]
// clang: 16/16 a@0:2 param 16[16] result 1[16]
struct S503 { long long a __attribute__((packed)); E8 : 4; S319 b; bool c : 1; S182 d __attribute__((aligned(2))); S266 e; };
// nvcc: 128/64 a@0 b@72 b.a@72 c@104:1 d@128 d.a@128:5 d.b@160 e@512 e.a@512 e.a.a@512 e.a.a[0].a@512:3 e.a.a[0].b@515:12 e.a.a[0].c@528:8 e.a.a[0].d@536:7 e.a.a[0].e@544 e.a.b@576:5 param 64[128] result 64[128]
// clang: 128/64 a@0 b@72 b.a@72 c@104:1 d@128 d.a@128:5 d.b@160 e@512 e.a@512 e.a.a@512 e.a.a[0].a@512:3 e.a.a[0].b@515:12 e.a.a[0].c@528:8 e.a.a[0].d@536:7 e.a.a[0].e@544 e.a.b@576:5 param 64[128] result 1[128]
struct S504 { size_t a; uchar1 b; char c __attribute__((packed)); S159 d; size_t e; long long f : 23; };
// both: 72/8 a@0 b@64 c@72 d@128 d.a@128 d.b@192 d.c@256:59 d.d@320 e@448 f@512:23 param 8[72] result 8[72]
struct S505 { bool a : 1; struct __attribute__((aligned(32))) { bool b : 1; unsigned long c : 28 __attribute__((aligned(8))); signed char d : 4 __attribute__((packed)); short4 e; }; double4 f; int8_t g; };
// nvcc: 128/32 a@0:1 b@256:1 c@320:28 d@348:4 e@384 f@512 g@768 param 32[128] result 32[128]
// clang: 128/32 a@0:1 b@256:1 c@320:28 d@348:4 e@384 f@512 g@768 param 32[128] result 8[128]
union S506 { unsigned short : 12; unsigned __int128 a; bool b; unsigned int c __attribute__((aligned(16))) __attribute__((packed)); };
// both: 16/16 a@0 b@0 c@0 param 16[16] result 16[16]
struct S507 { int8_t a __attribute__((packed)); int b : 25; uint16_t c : 5; };
// both: 8/4 a@0 b@32:25 c@57:5 param 4[8] result 4[8]
struct S508 { E16 a; unsigned char b : 1; struct __attribute__((aligned(4))) { unsigned long c : 30; long d; unsigned long e : 29; signed char f : 4 __attribute__((aligned(1))); }; E16 g __attribute__((aligned(16))); unsigned char h : 4; };
// nvcc: 48/16 a@0 b@16:1 c@64:30 d@128 e@192:29 f@224:4 g@256 h@272:4 param 16[48] result 16[48]
// clang: 48/16 a@0 b@16:1 c@64:30 d@128 e@192:29 f@224:4 g@256 h@272:4 param 16[48] result 8[48]
union S509 { S118 a __attribute__((aligned(16))); char b; unsigned char c; };
// nvcc: 448/16 a@0 a.a@0 a.a[0].a@0:10 a.a[0].b@0:8 a.a[0].c@0 a.a[0].d@0 a.a[0].e@0 a.a[0].e[0][0].a@0 a.a[0].e[0][0].a.a@0 a.a[0].e[0][0].a.b@64:9 a.a[0].e[0][0].a.c@96 a.a[0].e[0][0].b@128 a.a[0].f@0:8 a.b@3456:14 b@0 c@0 param 16[448] result 16[448]
// clang: 448/16 a@0 a.a@0 a.a[0].a@0:10 a.a[0].b@0:8 a.a[0].c@0 a.a[0].d@0 a.a[0].e@0 a.a[0].e[0][0].a@0 a.a[0].e[0][0].a.a@0 a.a[0].e[0][0].a.b@64:9 a.a[0].e[0][0].a.c@96 a.a[0].e[0][0].b@128 a.a[0].f@0:8 a.b@3456:14 b@0 c@0 param 16[448] result 8[448]
struct S510 { unsigned long long a : 39; bool b : 1 __attribute__((packed)); char : 2; signed char c : 8; unsigned long d : 17; };
// both: 16/8 a@0:39 b@39:1 c@48:8 d@64:17 param 8[16] result 8[16]
struct S511 { struct { unsigned __int128 a; unsigned long long b : 31; unsigned __int128 c[3][3]; }; uint16_t d : 7; signed char e : 4; unsigned char : 5; };
// both: 192/16 a@0 b@128:31 c@256 d@1408:7 e@1416:4 param 16[192] result 16[192]
struct S512 { ulonglong1 a; };
// both: 8/8 a@0 param 8[8] result 8[8]
union __attribute__((aligned(32))) S513 { size_t a; unsigned int b : 23; uint2 c; long d : 43; unsigned char e[1][3]; long long f : 8; };
// nvcc: 32/32 a@0 b@0:23 c@0 d@0:43 e@0 f@0:8 param 32[32] result 32[32]
// clang: 32/32 a@0 b@0:23 c@0 d@0:43 e@0 f@0:8 param 32[32] result 8[32]
struct S514 { size_t * a; struct { long long b : 21; uint16_t : 0; char c : 3; uint1 d[3][4]; }; unsigned short : 6; int4 e[3] __attribute__((aligned(2))); };
// nvcc: 128/16 a@0 b@64:21 c@96:3 d@128 e@640 param 16[128] result 16[128]
// clang: 128/16 a@0 b@64:21 c@96:3 d@128 e@640 param 16[128] result 8[128]
struct S515 { signed char a : 6; unsigned short b : 3; char c : 7; short d : 12; };
// both: 4/2 a@0:6 b@6:3 c@9:7 d@16:12 param 2[4] result 2[4]
struct S516 { char a : 6; };
// both: 1/1 a@0:6 param 1[1] result 1[1]
struct S517 { E8 a : 7; char : 8; S203 b[2][3]; };
// both: 32/1 a@0:7 b@16 b[0][0].a@16 b[0][0].b@48:2 param 1[32] result 1[32]
struct __attribute__((packed)) S518 { int a : 30; };
// nvcc: 4/1 a@0:30 param 1[4] result 1[4]
// clang: 4/1 a@0:30 param 4[4] result 4[4]
struct S519 { S61 a; unsigned long b : 3; signed char c : 5; unsigned short : 0; signed char d : 8; int * e[2] __attribute__((aligned(8))); };
// both: 32/8 a@0 a.a@0 b@64:3 c@67:5 d@80:8 e@128 param 8[32] result 8[32]
struct S520 { unsigned int a : 29 __attribute__((aligned(8))); int b; char4 c; unsigned int d : 11; char e : 1; };
// nvcc: 16/8 a@0:29 b@32 c@64 d@96:11 e@107:1 param 8[16] result 8[16]
// clang: 16/8 a@0:29 b@32 c@64 d@96:11 e@107:1 param 8[16] result 4[16]
union __attribute__((aligned(32))) S521 { unsigned char * a; signed char b : 1; unsigned char c : 7; };
// nvcc: 32/32 a@0 b@0:1 c@0:7 param 32[32] result 32[32]
// clang: 32/32 a@0 b@0:1 c@0:7 param 32[32] result 8[32]
struct S522 { uint16_t : 2; int a[1] __attribute__((packed)); struct { long b __attribute__((packed)); unsigned int c : 26; uint64_t d; }; char e; uint64_t f __attribute__((aligned(8))); int g : 13; };
// nvcc: 56/8 a@8 b@64 c@128:26 d@192 e@256 f@320 g@384:13 param 8[56] result 8[56]
// clang: 56/8 a@8 b@64 c@128:26 d@192 e@256 f@320 g@384:13 param 8[56] result 1[56]
struct S523 { float a; };
// both: 4/4 a@0 param 4[4] result 4[4]
union S524 { int8_t a[3][3] __attribute__((aligned(1))) __attribute__((packed)); char b[3]; char c[4]; int : 26; size_t d; int e : 27; };
// both: 16/8 a@0 b@0 c@0 d@0 e@0:27 param 8[16] result 8[16]
struct S525 { unsigned long long a : 47; long long : 1; };
// both: 8/8 a@0:47 param 8[8] result 8[8]
struct S526 { long a; };
// both: 8/8 a@0 param 8[8] result 8[8]
struct S527 { ulonglong3 a; int8_t b[1][2]; int1 c; uint16_t d : 1; unsigned short e : 14; int8_t * f; };
// both: 48/8 a@0 b@192 c@224 d@256:1 e@257:14 f@320 param 8[48] result 8[48]
struct S528 { unsigned short a : 10; signed char b : 5; int c __attribute__((aligned(2))); };
// both: 8/4 a@0:10 b@10:5 c@32 param 4[8] result 4[8]
struct __attribute__((packed)) S529 { double a; union __attribute__((packed)) { short b : 16; }; unsigned int c : 17; };
// both: 13/1 a@0 b@64:16 c@80:17 param 1[13] result 1[13]
struct S530 { uint16_t a : 14; };
// both: 2/2 a@0:14 param 2[2] result 2[2]
struct S531 { short a : 7; bool b : 1; };
// nvcc: 2/2 a@0:7 b@7:1 param 2[2] result 2[2]
// clang: 2/2 a@0:7 b@7:1 param 2[2] result 1[2]
struct __attribute__((aligned(4))) S532 { struct __attribute__((packed)) { E32 a : 21; unsigned int b : 10; int c : 21; bool d : 1; signed char e : 8; }; float f; };
// nvcc: 12/4 a@0:21 b@21:10 c@31:21 d@52:1 e@53:8 f@64 param 4[12] result 4[12]
// clang: 12/4 a@0:21 b@21:10 c@31:21 d@52:1 e@53:8 f@64 param 4[12] result 1[12]
struct S533 { S424 a; unsigned long long b : 44 __attribute__((packed)); S248 c; long d : 41; E16 e : 16; };
// nvcc: 160/32 a@0 a.a@0 a.b@179:3 b@256:44 c@512 c.a@512 c.b@576 c.c@640:59 c.d@768:15 c.e@784 c.f@832 d@1024:41 e@1072:16 param 32[160] result 32[160]
// clang: 160/32 a@0 a.a@0 a.b@179:3 b@256:44 c@512 c.a@512 c.b@576 c.c@640:59 c.d@768:15 c.e@784 c.f@832 d@1024:41 e@1072:16 param 32[160] result 8[160]
struct S534 { unsigned __int128 a __attribute__((aligned(8))); bool b; int8_t c; int d : 22; E16 e[1] __attribute__((aligned(1))); };
// both: 32/16 a@0 b@128 c@136 d@160:22 e@192 param 16[32] result 16[32]
union S535 { };
// both: 1/1 param 1[1] result 1[1]
struct S536 { unsigned int a[4]; unsigned int : 31; unsigned long long : 0; ulong4 b; S292 c[3]; };
// nvcc: 144/16 a@0 b@256 c@512 c[0].a@512 c[0].b@608 param 16[144] result 16[144]
// clang: 144/16 a@0 b@256 c@512 c[0].a@512 c[0].b@608 param 16[144] result 8[144]
struct S537 { longlong4 a __attribute__((packed)); };
// nvcc: 32/1 a@0 param 1[32] result 1[32]
// clang: 32/1 a@0 param 8[32] result 8[32]
struct __attribute__((aligned(32))) S538 { int a : 2; longlong1 b; unsigned long long c : 19; uint16_t d : 6; };
// nvcc: 32/32 a@0:2 b@64 c@128:19 d@147:6 param 32[32] result 32[32]
// clang: 32/32 a@0:2 b@64 c@128:19 d@147:6 param 32[32] result 8[32]
union S539 { uint16_t a : 2; int b : 11; signed char c : 4; char d; long long e : 48; unsigned char f; };
// both: 8/8 a@0:2 b@0:11 c@0:4 d@0 e@0:48 f@0 param 8[8] result 8[8]
struct S540 { long : 0; int a : 32; };
// both: 4/4 a@0:32 param 4[4] result 4[4]
struct __attribute__((packed)) S541 { S281 a; unsigned int : 18; unsigned int b : 18; int c : 12; int d : 20 __attribute__((packed)); };
// both: 25/1 a@0 a.a@0:16 a.b@0:3 a.c@0:31 b@146:18 c@164:12 d@176:20 param 1[25] result 1[25]
struct S542 { S268 a; int b : 12; E64 c : 43; E16 d : 8 __attribute__((packed)); unsigned long e : 55; };
// nvcc: 208/16 a@0 a.a@0:59 a.b@0 a.c@0 a.d@0:31 a.e@64 a.e.a@64:10 a.e.b@64:39 a.e.c@64 a.e.d@64 a.e.e@64:8 a.f@128:6 a.g@256:19 a.h@275:6 a.i@320 a.j@384 a.k@448:29 a.l@480 a.l.a@480 a.l.b@544:52 a.l.c@608 a.l.c.a@608:29 a.l.c.b@640:4 a.l.c.c@648:7 a.l.c.d@672:32 a.l.c.e@736:3 a.l.c.f@744 a.l.c.g@800 a.l.c.h@864 a.l.c.i@736 a.l.c.i.a@736:1 a.l.c.j@736 a.l.c.k@1008 a.l.c.l@1024 a.l.d@1056:16 a.l.e@1120 a.m@1296 a.n@1360:17 a.o@1377:1 a.p@1384:32 a.q@1472:34 b@1536:12 c@1548:43 d@1591:8 e@1600:55 param 16[208] result 16[208]
// clang: 208/16 a@0 a.a@0:59 a.b@0 a.c@0 a.d@0:31 a.e@64 a.e.a@64:10 a.e.b@64:39 a.e.c@64 a.e.d@64 a.e.e@64:8 a.f@128:6 a.g@256:19 a.h@275:6 a.i@320 a.j@384 a.k@448:29 a.l@480 a.l.a@480 a.l.b@544:52 a.l.c@608 a.l.c.a@608:29 a.l.c.b@640:4 a.l.c.c@648:7 a.l.c.d@672:32 a.l.c.e@736:3 a.l.c.f@744 a.l.c.g@800 a.l.c.h@864 a.l.c.i@736 a.l.c.i.a@736:1 a.l.c.j@736 a.l.c.k@1008 a.l.c.l@1024 a.l.d@1056:16 a.l.e@1120 a.m@1296 a.n@1360:17 a.o@1377:1 a.p@1384:32 a.q@1472:34 b@1536:12 c@1548:43 d@1591:8 e@1600:55 param 16[208] result 8[208]
union S543 { E8 a : 8; unsigned char b : 7; S366 c[2]; };
// nvcc: 16/8 a@0:8 b@0:7 c@0 c[0].a@0:7 param 8[16] result 8[16]
// clang: 16/8 a@0:8 b@0:7 c@0 c[0].a@0:7 param 8[16] result 1[16]
struct __attribute__((packed)) S544 { unsigned int a : 28; };
// nvcc: 4/1 a@0:28 param 1[4] result 1[4]
// clang: 4/1 a@0:28 param 4[4] result 4[4]
struct S545 { signed char a : 1; };
// both: 1/1 a@0:1 param 1[1] result 1[1]
struct S546 { unsigned __int128 a[2] __attribute__((packed)); int b : 21; double3 c; struct __attribute__((aligned(2))) { unsigned __int128 d __attribute__((aligned(16))); long long : 0; long long e : 33; unsigned __int128 f; signed char g : 6; E32 h : 9; }; };
// both: 128/16 a@0 b@256:21 c@320 d@512 e@640:33 f@768 g@896:6 h@902:9 param 16[128] result 16[128]
struct __attribute__((aligned(2))) S547 { struct { longlong1 a; }; unsigned char : 0; unsigned short : 15; };
// both: 16/8 a@0 param 8[16] result 8[16]
struct __attribute__((packed)) S548 { signed char a : 7 __attribute__((aligned(32))); short b : 15; unsigned long long c : 52; signed char d : 2; long e : 9; };
// nvcc: 32/32 a@0:7 b@7:15 c@22:52 d@74:2 e@76:9 param 32[32] result 32[32]
// clang: 32/32 a@0:7 b@7:15 c@22:52 d@74:2 e@76:9 param 32[32] result 16[32]
struct S549 { long : 20; char4 a __attribute__((aligned(1))) __attribute__((packed)); };
// both: 7/1 a@24 param 1[7] result 1[7]
struct S550 { double4 a; signed char b : 6; unsigned int c : 1; int d : 4; unsigned __int128 e; E64 f : 61; };
// both: 80/16 a@0 b@256:6 c@262:1 d@263:4 e@384 f@512:61 param 16[80] result 16[80]
struct S551 { struct { int a : 2; ushort2 b __attribute__((packed)); unsigned long long c : 21; uint64_t d; signed char e : 4; }; long long f : 45; S22 g __attribute__((packed)); E16 h; longlong3 i; ulonglong2 j; };
// nvcc: 208/16 a@0:2 b@8 c@40:21 d@64 e@128:4 f@192:45 g@240 g.a@240 g.b@240 g.b.a@240:8 g.b.b@240:12 g.b.c@240:24 g.b.d@240:8 g.c@240 g.d@240 g.e@240:5 h@1264 i@1280 j@1536 param 16[208] result 16[208]
// clang: 208/16 a@0:2 b@8 c@40:21 d@64 e@128:4 f@192:45 g@240 g.a@240 g.b@240 g.b.a@240:8 g.b.b@240:12 g.b.c@240:24 g.b.d@240:8 g.c@240 g.d@240 g.e@240:5 h@1264 i@1280 j@1536 param 16[208] result 1[208]
struct S552 { bool * a; unsigned char b : 4; };
// both: 16/8 a@0 b@64:4 param 8[16] result 8[16]
union S553 { uint16_t a : 9 __attribute__((packed)); int b : 21; uint64_t * c; };
// both: 8/8 a@0:9 b@0:21 c@0 param 8[8] result 8[8]
struct __attribute__((aligned(2))) S554 { long : 8 __attribute__((packed)); unsigned char a; ulonglong2 b; int c : 11 __attribute__((aligned(32))); long long d : 20; };
// nvcc: 64/32 a@8 b@128 c@256:11 d@267:20 param 32[64] result 32[64]
// clang: 64/32 a@8 b@128 c@256:11 d@267:20 param 32[64] result 8[64]
struct S555 { long long a : 14; unsigned short b : 13; ulonglong1 c; unsigned int d : 2; unsigned int e : 22; struct __attribute__((aligned(8))) { E8 f : 2; long3 g; double4 h; E64 i : 42; long long j : 10; }; };
// nvcc: 112/16 a@0:14 b@16:13 c@64 d@128:2 e@130:22 f@256:2 g@320 h@512 i@768:42 j@810:10 param 16[112] result 16[112]
// clang: 112/16 a@0:14 b@16:13 c@64 d@128:2 e@130:22 f@256:2 g@320 h@512 i@768:42 j@810:10 param 16[112] result 8[112]
struct S556 { unsigned long long a : 19; };
// nvcc: 8/8 a@0:19 param 8[8] result 8[8]
// clang: 8/8 a@0:19 param 8[8] result 4[8]
struct S557 { int a : 27; ulonglong4 b __attribute__((packed)); ulonglong2 c; S384 d __attribute__((aligned(16))); long e : 64; uint64_t f; };
// nvcc: 112/16 a@0:27 b@32 c@384 d@512 d.a@512 d.b@576 d.c@576 d.d@576 d.e@576 e@768:64 f@832 param 16[112] result 16[112]
// clang: 112/16 a@0:27 b@32 c@384 d@512 d.a@512 d.b@576 d.c@576 d.d@576 d.e@576 e@768:64 f@832 param 16[112] result 1[112]
struct S558 { E16 a : 11; double b[4]; };
// both: 40/8 a@0:11 b@64 param 8[40] result 8[40]
struct S559 { struct { int a __attribute__((aligned(8))); short b : 12; }; short c : 15; double d[2]; unsigned char * e; E8 f : 8; union { float1 g; ulong3 h; long i __attribute__((packed)); bool j : 1; int k __attribute__((packed)); }; };
// both: 72/8 a@0 b@32:12 c@64:15 d@128 e@256 f@320:8 g@384 h@384 i@384 j@384:1 k@384 param 8[72] result 8[72]
union S560 { unsigned int a[2][1]; int3 b; size_t c; unsigned int d : 19; int8_t e; unsigned char f; };
// both: 16/8 a@0 b@0 c@0 d@0:19 e@0 f@0 param 8[16] result 8[16]
struct S561 { short a; bool b : 1; };
// both: 4/2 a@0 b@16:1 param 2[4] result 2[4]
struct S562 { char a[1][1]; short b : 4; double c; int d : 18; long e : 24; unsigned char f[3][1]; };
// both: 32/8 a@0 b@8:4 c@64 d@128:18 e@146:24 f@176 param 8[32] result 8[32]
struct S563 { unsigned char a; };
// both: 1/1 a@0 param 1[1] result 1[1]
struct S564 { bool a; E16 b : 1 __attribute__((packed)); float4 c; union __attribute__((packed)) { unsigned int d; bool e : 1; unsigned long long f : 56 __attribute__((aligned(32))); int8_t g; }; int3 h; };
// nvcc: 96/32 a@0 b@8:1 c@128 d@256 e@256:1 f@256:56 g@256 h@512 param 32[96] result 32[96]
// clang: 96/32 a@0 b@8:1 c@128 d@256 e@256:1 f@256:56 g@256 h@512 param 32[96] result 8[96]
struct S565 { unsigned int * a; char b : 2; size_t c __attribute__((aligned(4))); unsigned int d : 27; int e : 8 __attribute__((aligned(64))); };
// nvcc: 128/64 a@0 b@64:2 c@128 d@192:27 e@512:8 param 64[128] result 64[128]
// clang: 128/64 a@0 b@64:2 c@128 d@192:27 e@512:8 param 64[128] result 8[128]
struct S566 { unsigned char a : 3; char3 b; signed char c : 1; signed char d : 6; short e; };
// both: 8/2 a@0:3 b@8 c@32:1 d@33:6 e@48 param 2[8] result 2[8]
struct S567 { long long a; signed char : 4; unsigned short b : 3; unsigned int : 0; S401 c __attribute__((packed)); float d; };
// nvcc: 96/8 a@0 b@68:3 c@96 c.a@96:4 c.b@224:59 c.c@224 c.d@224:31 c.e@224 c.f@480 c.g@608:13 c.h@621:18 c.i@672 d@736 param 8[96] result 8[96]
// clang: 96/8 a@0 b@68:3 c@96 c.a@96:4 c.b@224:59 c.c@224 c.d@224:31 c.e@224 c.f@480 c.g@608:13 c.h@621:18 c.i@672 d@736 param 8[96] result 1[96]
struct S568 { long long : 40; int a : 3; long : 38 __attribute__((packed)); bool b : 1; S155 c[1]; };
// both: 24/8 a@40:3 b@81:1 c@128 c[0].a@128 c[0].b@128:1 c[0].c@128 param 8[24] result 8[24]
struct S569 { unsigned long a : 1; E16 b : 13; };
// nvcc: 8/8 a@0:1 b@1:13 param 8[8] result 8[8]
// clang: 8/8 a@0:1 b@1:13 param 8[8] result 2[8]
union __attribute__((aligned(2))) S570 { float3 a; unsigned int b; };
// both: 12/4 a@0 b@0 param 4[12] result 4[12]
struct S571 { unsigned int a; int : 29; };
// both: 8/4 a@0 param 4[8] result 4[8]
struct __attribute__((aligned(2))) S572 { unsigned char a : 1; long1 b[4]; uint16_t c : 6; S552 d; E64 e : 31; };
// both: 72/8 a@0:1 b@64 c@320:6 d@384 d.a@384 d.b@448:4 e@512:31 param 8[72] result 8[72]
struct S573 { S182 a; };
// nvcc: 16/16 a@0 a.a@0:5 a.b@32 param 16[16] result 16[16]
// clang: 16/16 a@0 a.a@0:5 a.b@32 param 16[16] result 4[16]
union S574 { unsigned long long a : 17; unsigned int * b; uint16_t c : 10; unsigned long d : 46; unsigned int e : 25 __attribute__((aligned(4))); long long f : 62; };
// both: 8/8 a@0:17 b@0 c@0:10 d@0:46 e@0:25 f@0:62 param 8[8] result 8[8]
struct S575 { bool a[3]; uchar1 b; struct { size_t c; int8_t * d[2]; unsigned long long e : 8; E8 f : 7; }; short g : 3; long h : 22; bool i : 1; };
// both: 48/8 a@0 b@24 c@64 d@128 e@256:8 f@264:7 g@320:3 h@323:22 i@345:1 param 8[48] result 8[48]
struct S576 { unsigned long a : 47; unsigned long long b : 22 __attribute__((packed)); struct { unsigned long long c : 26; char4 d; signed char e : 7; int * f; unsigned long long g : 15; int h : 11; }; uint16_t i : 10; };
// both: 56/8 a@0:47 b@47:22 c@128:26 d@160 e@192:7 f@256 g@320:15 h@335:11 i@384:10 param 8[56] result 8[56]
struct S577 { short a : 10; char1 b; };
// both: 4/2 a@0:10 b@16 param 2[4] result 2[4]
struct S578 { uint16_t a : 14 __attribute__((aligned(2))); };
// both: 2/2 a@0:14 param 2[2] result 2[2]
struct __attribute__((aligned(4))) S579 { size_t a; struct { uint16_t b : 13; }; S191 c[3][2] __attribute__((aligned(32))) __attribute__((packed)); uint16_t d : 3; long long : 0; bool e : 1; };
// nvcc: 96/32 a@0 b@64:13 c@256 c[0][0].a@256 d@640:3 e@704:1 param 32[96] result 32[96]
// clang: 96/32 a@0 b@64:13 c@256 c[0][0].a@256 d@640:3 e@704:1 param 32[96] result 8[96]
union __attribute__((packed)) S580 { signed char a : 3; };
// both: 1/1 a@0:3 param 1[1] result 1[1]
struct S581 { char : 7 __attribute__((packed)); unsigned long a : 19; };
// nvcc: 8/8 a@7:19 param 8[8] result 8[8]
// clang: 8/8 a@7:19 param 8[8] result 4[8]
union S582 { bool a : 1; int b : 31; };
// both: 4/4 a@0:1 b@0:31 param 4[4] result 4[4]
struct S583 { unsigned int a : 6 __attribute__((packed)); int b : 31; short c : 1; long3 d; };
// both: 32/8 a@0:6 b@32:31 c@63:1 d@64 param 8[32] result 8[32]
struct __attribute__((aligned(1))) S584 { int a : 27; E16 b : 7; E64 c : 37; union __attribute__((packed)) __attribute__((aligned(1))) { struct { unsigned int : 9; short d; }; }; struct { long e; struct { unsigned int f : 19 __attribute__((packed)); }; long long g; unsigned long long h : 31; size_t i; }; int j; };
// nvcc: 72/8 a@0:27 b@32:7 c@64:37 d@120 e@192 f@256:19 g@320 h@384:31 i@448 j@512 param 8[72] result 8[72]
// clang: 72/8 a@0:27 b@32:7 c@64:37 d@120 e@192 f@256:19 g@320 h@384:31 i@448 j@512 param 8[72] result 1[72]
struct S585 { struct { E32 a : 16; }; };
// nvcc: 4/4 a@0:16 param 4[4] result 4[4]
// clang: 4/4 a@0:16 param 4[4] result 2[4]
struct S586 { int8_t a[3][2]; unsigned long b : 45; uint16_t c : 7; uint64_t d; };
// both: 24/8 a@0 b@64:45 c@112:7 d@128 param 8[24] result 8[24]
struct S587 { double a; };
// both: 8/8 a@0 param 8[8] result 8[8]
union S588 { S368 a[2]; unsigned long long : 0; };
// both: 32/8 a@0 a[0].a@0:48 a[0].b@64 param 8[32] result 8[32]
struct S589 { short a; unsigned char b : 6; longlong1 c; ushort3 d; };
// both: 24/8 a@0 b@16:6 c@64 d@128 param 8[24] result 8[24]
struct __attribute__((packed)) S590 { char a : 1; uint64_t b; long long c; int d[2][4]; unsigned __int128 * e; unsigned __int128 * f __attribute__((packed)); };
// both: 65/1 a@0:1 b@8 c@72 d@136 e@392 f@456 param 1[65] result 1[65]
union S591 { uint3 a; unsigned long b : 63; };
// both: 16/8 a@0 b@0:63 param 8[16] result 8[16]
struct __attribute__((aligned(16))) S592 { unsigned int a[2][3] __attribute__((packed)); S97 b[1]; };
// nvcc: 32/16 a@0 b@192 param 16[32] result 16[32]
// clang: 32/16 a@0 b@192 param 16[32] result 4[32]
struct S593 { unsigned int * a; struct __attribute__((aligned(2))) { char b; S277 c; }; S74 d; E16 e : 10; E32 f : 10; long g[4]; };
// both: 152/8 a@0 b@64 c@72 d@128 d.a@128:7 d.b@136 d.b.a@136 d.c@200 d.c.a@200 d.c.b@328 d.c.c@584 d.d@712 d.e@736:6 d.f@744 d.g@752 d.h@832 e@896:10 f@906:10 g@960 param 8[152] result 8[152]
struct S594 { unsigned int a : 11; long3 b; unsigned long c : 48; ushort2 d; };
// both: 48/8 a@0:11 b@64 c@256:48 d@320 param 8[48] result 8[48]
struct S595 { unsigned char a : 4; struct __attribute__((packed)) { uint64_t b; E64 : 40; }; };
// both: 14/1 a@0:4 b@8 param 1[14] result 1[14]
struct S596 { unsigned short a : 8; E64 b : 20; E16 c; };
// nvcc: 8/8 a@0:8 b@8:20 c@32 param 8[8] result 8[8]
// clang: 8/8 a@0:8 b@8:20 c@32 param 8[8] result 4[8]
struct S597 { unsigned int a : 14; };
// nvcc: 4/4 a@0:14 param 4[4] result 4[4]
// clang: 4/4 a@0:14 param 4[4] result 2[4]
struct S598 { bool a; long long b; };
// both: 16/8 a@0 b@64 param 8[16] result 8[16]
struct __attribute__((packed)) S599 { unsigned char * a; };
// nvcc: 8/1 a@0 param 1[8] result 1[8]
// clang: 8/1 a@0 param 8[8] result 8[8]
struct S600 { uint16_t a : 2 __attribute__((packed)); short1 b; };
// both: 4/2 a@0:2 b@16 param 2[4] result 2[4]
struct S601 { float3 a; uint64_t b[3][4]; union { int2 c; S279 d; signed char e : 5; char f[1]; long long g[1][1]; }; };
// both: 120/8 a@0 b@128 c@896 d@896 d.a@896 e@896:5 f@896 g@896 param 8[120] result 8[120]
struct S602 { E16 a : 15 __attribute__((packed)); struct { struct { unsigned int b : 22; long c : 14; }; long long d __attribute__((aligned(4))); size_t e; unsigned long : 0; unsigned char f : 4; uint64_t g; }; short h; E8 i[3]; short j : 1; };
// both: 56/8 a@0:15 b@64:22 c@86:14 d@128 e@192 f@256:4 g@320 h@384 i@400 j@424:1 param 8[56] result 8[56]
struct S603 { short a __attribute__((packed)); float4 b[1][3] __attribute__((packed)); unsigned int c[4]; };
// nvcc: 68/4 a@0 b@16 c@416 param 4[68] result 4[68]
// clang: 68/4 a@0 b@16 c@416 param 4[68] result 1[68]
union __attribute__((aligned(4))) S604 { unsigned int a : 22; unsigned long long b : 64 __attribute__((aligned(32))); unsigned __int128 c; int d : 20; uint16_t : 4; };
// nvcc: 32/32 a@0:22 b@0:64 c@0 d@0:20 param 32[32] result 32[32]
// clang: 32/32 a@0:22 b@0:64 c@0 d@0:20 param 32[32] result 16[32]
struct S605 { uint16_t a : 9; long b; unsigned char c; char d : 5; };
// both: 24/8 a@0:9 b@64 c@128 d@136:5 param 8[24] result 8[24]
struct S606 { long a : 56; ulong2 b __attribute__((aligned(16))); union __attribute__((aligned(32))) { int c : 32; long d; char e; char f; size_t g; unsigned char h; }; E8 i : 3; };
// nvcc: 96/32 a@0:56 b@128 c@256:32 d@256 e@256 f@256 g@256 h@256 i@512:3 param 32[96] result 32[96]
// clang: 96/32 a@0:56 b@128 c@256:32 d@256 e@256 f@256 g@256 h@256 i@512:3 param 32[96] result 8[96]
struct S607 { char a : 7 __attribute__((aligned(4))); long3 b; S57 c __attribute__((aligned(64))); char d; E8 e : 4 __attribute__((aligned(64))); };
// nvcc: 256/64 a@0:7 b@64 c@512 c.a@512 c.a[0].a@515:10 c.a[0].b@576 c.a[0].c@640:7 c.a[0].d@704 c.b@1280:4 d@1288 e@1536:4 param 64[256] result 64[256]
// clang: 256/64 a@0:7 b@64 c@512 c.a@512 c.a[0].a@515:10 c.a[0].b@576 c.a[0].c@640:7 c.a[0].d@704 c.b@1280:4 d@1288 e@1536:4 param 64[256] result 8[256]
struct S608 { struct { short a; unsigned long long b : 63; signed char c : 3; unsigned int : 28; long long d; }; int e; short f : 14; };
// both: 40/8 a@0 b@64:63 c@128:3 d@192 e@256 f@288:14 param 8[40] result 8[40]
struct S609 { uint16_t a : 4; short b; bool c __attribute__((packed)); };
// both: 6/2 a@0:4 b@16 c@32 param 2[6] result 2[6]
struct S610 { int a : 10; unsigned int b __attribute__((aligned(4))); char c; unsigned short d : 3; E e; };
// both: 16/4 a@0:10 b@32 c@64 d@72:3 e@96 param 4[16] result 4[16]
struct __attribute__((packed)) S611 { S67 a; };
// both: 2/1 a@0 a.a@0:1 param 1[2] result 1[2]
union S612 { uchar3 a; long b; bool c : 1; ulong4 d __attribute__((packed)); char1 e; };
// both: 32/8 a@0 b@0 c@0:1 d@0 e@0 param 8[32] result 8[32]
struct __attribute__((packed)) S613 { long2 a; signed char b : 6 __attribute__((aligned(1))); int c[2]; };
// both: 25/1 a@0 b@128:6 c@136 param 1[25] result 1[25]
union S614 { struct __attribute__((packed)) { bool : 1; unsigned char a : 5; char b[3]; bool * c; }; uint16_t : 0; unsigned __int128 d; };
// both: 16/16 a@1:5 b@8 c@32 d@0 param 16[16] result 16[16]
struct __attribute__((aligned(16))) S615 { uchar4 a __attribute__((aligned(4))); unsigned char b; union __attribute__((packed)) { short1 c; unsigned long long d : 47; char e; }; uint2 f; char g; long long h : 59; };
// nvcc: 48/16 a@0 b@32 c@40 d@40:47 e@40 f@128 g@192 h@256:59 param 16[48] result 16[48]
// clang: 48/16 a@0 b@32 c@40 d@40:47 e@40 f@128 g@192 h@256:59 param 16[48] result 8[48]
union S616 { char : 6; unsigned int * a[4]; unsigned int b; E32 c; char d; unsigned int e : 27; };
// both: 32/8 a@0 b@0 c@0 d@0 e@0:27 param 8[32] result 8[32]
struct S617 { unsigned int a : 1; double * b; E8 c; int d; size_t e[2] __attribute__((packed)); short f; };
// both: 48/8 a@0:1 b@64 c@128 d@160 e@192 f@320 param 8[48] result 8[48]
union S618 { struct __attribute__((aligned(2))) { char a : 8 __attribute__((aligned(1))); E8 b : 4 __attribute__((packed)); short c : 7; unsigned int : 0; struct { long long d; unsigned char e; }; int8_t f[3][4]; }; unsigned int g : 32; bool h : 1; long long i; char j : 8; };
// both: 40/8 a@0:8 b@8:4 c@16:7 d@64 e@128 f@192 g@0:32 h@0:1 i@0 j@0:8 param 8[40] result 8[40]
struct S619 { unsigned int a : 22; struct { unsigned long b : 61; float c; double d; long2 e; }; int f; };
// nvcc: 80/16 a@0:22 b@128:61 c@192 d@256 e@384 f@512 param 16[80] result 16[80]
// clang: 80/16 a@0:22 b@128:61 c@192 d@256 e@384 f@512 param 16[80] result 8[80]
struct S620 { unsigned __int128 a; long b : 36; short c : 1; E8 d : 8; E64 e : 39; int2 f; };
// both: 48/16 a@0 b@128:36 c@164:1 d@168:8 e@192:39 f@256 param 16[48] result 16[48]
union S621 { S538 a[4] __attribute__((packed)); ushort4 b; unsigned char : 6; long long c; };
// both: 128/8 a@0 a[0].a@0:2 a[0].b@64 a[0].c@128:19 a[0].d@147:6 b@0 c@0 param 8[128] result 8[128]
struct __attribute__((aligned(4))) S622 { unsigned int a : 10; int b : 12; unsigned __int128 c[3]; unsigned char d; int : 25; };
// both: 80/16 a@0:10 b@10:12 c@128 d@512 param 16[80] result 16[80]
struct S623 { float a; char b; unsigned long long c : 27; short d : 11; };
// both: 16/8 a@0 b@32 c@64:27 d@96:11 param 8[16] result 8[16]
struct S624 { int a : 22; long b; ushort2 c; };
// both: 24/8 a@0:22 b@64 c@128 param 8[24] result 8[24]
struct S625 { unsigned long long a : 59; };
// both: 8/8 a@0:59 param 8[8] result 8[8]
struct S626 { unsigned int a; int : 19; bool b : 1; union { int8_t c; S589 d; int1 e[2]; long f; E g[2][1] __attribute__((aligned(2))); char h : 4; }; S350 i; unsigned short : 0; };
// both: 64/8 a@0 b@51:1 c@64 d@64 d.a@64 d.b@80:6 d.c@128 d.d@192 e@64 f@64 g@64 h@64:4 i@256 i.a@256:11 i.b@267:21 i.c@288:4 i.d@320 param 8[64] result 8[64]
struct S627 { char a; int : 0; bool b; };
// both: 5/1 a@0 b@32 param 1[5] result 1[5]
struct __attribute__((packed)) S628 { int a[1][2]; unsigned long b : 34; unsigned short c : 1; };
// both: 13/1 a@0 b@64:34 c@98:1 param 1[13] result 1[13]
struct S629 { long a; };
// both: 8/8 a@0 param 8[8] result 8[8]
struct S630 { unsigned short a : 12; };
// both: 2/2 a@0:12 param 2[2] result 2[2]
struct S631 { long2 a; char : 0; char b : 5; short3 c; };
// nvcc: 32/16 a@0 b@128:5 c@144 param 16[32] result 16[32]
// clang: 32/16 a@0 b@128:5 c@144 param 16[32] result 8[32]
struct __attribute__((aligned(128))) S632 { unsigned short a : 1; unsigned int b; long long c : 20; };
// nvcc: 128/128 a@0:1 b@32 c@64:20 param 128[128] result 128[128]
// clang: 128/128 a@0:1 b@32 c@64:20 param 128[128] result 4[128]
struct __attribute__((packed)) S633 { E8 a : 7; short : 10; short * b; struct { struct { int c : 28; uint64_t d; E8 e : 5 __attribute__((aligned(32))); unsigned int f; long long g; union __attribute__((aligned(2))) { unsigned int h : 8; }; }; }; bool i : 1; };
// both: 76/1 a@0:7 b@24 c@88:28 d@152 e@344:5 f@376 g@408 h@472:8 i@600:1 param 1[76] result 1[76]
struct S634 { ushort4 a; };
// nvcc: 8/8 a@0 param 8[8] result 8[8]
// clang: 8/8 a@0 param 8[8] result 2[8]
struct S635 { S94 a __attribute__((aligned(32))); };
// nvcc: 32/32 a@0 a.a@0:25 a.b@25:1 a.c@64 a.d@128:34 param 32[32] result 32[32]
// clang: 32/32 a@0 a.a@0:25 a.b@25:1 a.c@64 a.d@128:34 param 32[32] result 8[32]
struct S636 { unsigned int a : 13; };
// nvcc: 4/4 a@0:13 param 4[4] result 4[4]
// clang: 4/4 a@0:13 param 4[4] result 2[4]
struct S637 { uint64_t * a[3]; long long b : 4 __attribute__((aligned(8))); struct { bool : 1 __attribute__((packed)); unsigned long long c : 8 __attribute__((aligned(8))); }; };
// both: 48/8 a@0 b@192:4 c@320:8 param 8[48] result 8[48]
union __attribute__((aligned(8))) S638 { unsigned int a : 26; };
// nvcc: 8/8 a@0:26 param 8[8] result 8[8]
// clang: 8/8 a@0:26 param 8[8] result 4[8]
struct __attribute__((packed)) S639 { char a : 8 __attribute__((packed)); int b[2]; long long c : 48; S229 d; };
// both: 18/1 a@0:8 b@8 c@72:48 d@120 d.a@120 d.b@120:17 param 1[18] result 1[18]
struct S640 { int8_t a[1] __attribute__((packed)); int b : 29; struct { S316 c; }; unsigned int : 0; };
// nvcc: 24/8 a@0 b@32:29 c@64 c.a@64:29 c.b@96 c.c@128 c.d@136:3 param 8[24] result 8[24]
// clang: 24/8 a@0 b@32:29 c@64 c.a@64:29 c.b@96 c.c@128 c.d@136:3 param 8[24] result 4[24]
union S641 { short a; bool * b __attribute__((aligned(32))) __attribute__((packed)); short : 7; unsigned int : 0; unsigned char c : 3 __attribute__((aligned(1))); };
// nvcc: 32/32 a@0 b@0 c@0:3 param 32[32] result 32[32]
// clang: 32/32 a@0 b@0 c@0:3 param 32[32] result 8[32]
struct __attribute__((packed)) S642 { int a : 30; bool b : 1 __attribute__((packed)); E32 : 3; unsigned char c[2]; E32 d[1][1] __attribute__((aligned(32))); short * e[2]; };
// nvcc: 64/32 a@0:30 b@30:1 c@40 d@256 e@288 param 32[64] result 32[64]
// clang: 64/32 a@0:30 b@30:1 c@40 d@256 e@288 param 32[64] result 1[64]
struct S643 { ulonglong4 a; struct { longlong2 b; long c : 44; S253 d; uint64_t e; unsigned int f; long long g : 3 __attribute__((packed)); }; unsigned char h : 6; short i : 1 __attribute__((aligned(64))); };
// nvcc: 256/64 a@0 b@256 c@384:44 d@512 d.a@512:7 d.b@640 d.c@768 d.d@800:22 d.e@824 e@896 f@960 g@992:3 h@1024:6 i@1536:1 param 64[256] result 64[256]
// clang: 256/64 a@0 b@256 c@384:44 d@512 d.a@512:7 d.b@640 d.c@768 d.d@800:22 d.e@824 e@896 f@960 g@992:3 h@1024:6 i@1536:1 param 64[256] result 8[256]
struct S644 { char a : 8; };
// both: 1/1 a@0:8 param 1[1] result 1[1]
struct __attribute__((packed)) S645 { size_t a; uint64_t b[2][3]; long long c : 62 __attribute__((packed)); short d; signed char e : 4; bool * f; };
// both: 75/1 a@0 b@64 c@448:62 d@512 e@528:4 f@536 param 1[75] result 1[75]
union S646 { long a : 63; };
// both: 8/8 a@0:63 param 8[8] result 8[8]
struct S647 { int a : 13 __attribute__((aligned(8))); union __attribute__((packed)) { unsigned short : 14; bool b; uint16_t c : 3; unsigned int d : 13; unsigned long long e : 61; bool : 1; }; int : 5; };
// nvcc: 16/8 a@0:13 b@16 c@16:3 d@16:13 e@16:61 param 8[16] result 8[16]
// clang: 16/8 a@0:13 b@16 c@16:3 d@16:13 e@16:61 param 8[16] result 1[16]
struct S648 { unsigned int a : 29; char b : 3; long long c; };
// both: 16/8 a@0:29 b@29:3 c@64 param 8[16] result 8[16]
union S649 { E64 : 0; S106 a; };
// both: 16/8 a@0 a.a@0:4 a.b@4:7 a.c@32:32 a.d@64 a.e@72:21 param 8[16] result 8[16]
union __attribute__((packed)) S650 { S262 a; uint16_t b : 7; unsigned long c : 11; unsigned short d : 2; };
// nvcc: 36/1 a@0 a.a@1:31 a.b@32 a.c@64 a.c.a@64:6 a.c.b@72 a.c.c@136:5 a.c.d@141:10 a.c.e@192 a.d@256 b@0:7 c@0:11 d@0:2 param 1[36] result 1[36]
// clang: 36/1 a@0 a.a@1:31 a.b@32 a.c@64 a.c.a@64:6 a.c.b@72 a.c.c@136:5 a.c.d@141:10 a.c.e@192 a.d@256 b@0:7 c@0:11 d@0:2 param 4[36] result 4[36]
struct S651 { S120 a; long long b; struct { struct { long c; }; unsigned int d : 11; }; int e : 11; };
// both: 40/8 a@0 a.a@0:11 a.b@11:49 b@64 c@128 d@192:11 e@256:11 param 8[40] result 8[40]
struct S652 { struct { float a[2]; uint16_t b : 12; unsigned int c : 28; struct { bool d : 1 __attribute__((aligned(16))) __attribute__((packed)); }; }; unsigned short e : 5; };
// nvcc: 48/16 a@0 b@64:12 c@96:28 d@128:1 e@256:5 param 16[48] result 16[48]
// clang: 48/16 a@0 b@64:12 c@96:28 d@128:1 e@256:5 param 16[48] result 8[48]
struct S653 { S280 a; };
// nvcc: 32/32 a@0 a.a@0:5 a.b@64 a.c@128 a.d@192:8 param 32[32] result 32[32]
// clang: 32/32 a@0 a.a@0:5 a.b@64 a.c@128 a.d@192:8 param 32[32] result 8[32]
union S654 { unsigned short a : 2; S528 b; uint16_t c : 8; };
// both: 8/4 a@0:2 b@0 b.a@0:10 b.b@10:5 b.c@32 c@0:8 param 4[8] result 4[8]
union __attribute__((aligned(128))) S655 { uint64_t a; long long * b; long c[1][3]; };
// nvcc: 128/128 a@0 b@0 c@0 param 128[128] result 128[128]
// clang: 128/128 a@0 b@0 c@0 param 128[128] result 8[128]
struct S656 { struct __attribute__((aligned(32))) { short a; }; int b : 2 __attribute__((packed)); S230 c; char d : 8 __attribute__((aligned(2))); };
// nvcc: 64/32 a@0 b@256:2 c@288 c.a@288 c.b@320:8 d@352:8 param 32[64] result 32[64]
// clang: 64/32 a@0 b@256:2 c@288 c.a@288 c.b@320:8 d@352:8 param 32[64] result 4[64]
struct __attribute__((packed)) __attribute__((aligned(1))) S657 { uint3 a; };
// nvcc: 12/1 a@0 param 1[12] result 1[12]
// clang: 12/1 a@0 param 4[12] result 4[12]
union __attribute__((packed)) S658 { long long : 1; long a : 55; };
// both: 7/1 a@0:55 param 1[7] result 1[7]
struct S659 { struct __attribute__((aligned(32))) { uint16_t a : 12; unsigned long b : 59; }; };
// nvcc: 32/32 a@0:12 b@64:59 param 32[32] result 32[32]
// clang: 32/32 a@0:12 b@64:59 param 32[32] result 8[32]
struct S660 { int a : 16; struct { S310 b; long4 c; S659 d __attribute__((aligned(2))); long4 e; char f; int g : 22 __attribute__((packed)); }; bool h __attribute__((packed)); struct { int i : 17; short j : 16; long k __attribute__((aligned(1))); double4 l; short m : 4; }; S303 n[4]; };
// nvcc: 2432/128 a@0:16 b@256 b.a@256 b.b@256 b.c@256 b.c.a@256:4 b.c.b@288 b.c.c@384 b.d@256 c@1152 d@1536 d.a@1536:12 d.b@1600:59 e@1792 f@2048 g@2056:22 h@2304 i@2432:17 j@2464:16 k@2496 l@2560 m@2816:4 n@3072 n[0].a@3072:4 n[0].b@3076:44 n[0].c@3120:7 n[0].d@4096 n[0].e@4160:11 n[0].f@4171:12 n[0].g@4192 n[0].h@5120:22 n[0].i@5120 n[0].j@5120 n[0].k@6144 param 128[2432] result 128[2432]
// clang: 2432/128 a@0:16 b@256 b.a@256 b.b@256 b.c@256 b.c.a@256:4 b.c.b@288 b.c.c@384 b.d@256 c@1152 d@1536 d.a@1536:12 d.b@1600:59 e@1792 f@2048 g@2056:22 h@2304 i@2432:17 j@2464:16 k@2496 l@2560 m@2816:4 n@3072 n[0].a@3072:4 n[0].b@3076:44 n[0].c@3120:7 n[0].d@4096 n[0].e@4160:11 n[0].f@4171:12 n[0].g@4192 n[0].h@5120:22 n[0].i@5120 n[0].j@5120 n[0].k@6144 param 128[2432] result 8[2432]
struct S661 { E16 : 5; E16 a; struct { struct { unsigned char b; double c; struct { long long d[3][4]; }; long e : 5; }; long long f __attribute__((aligned(2))); E32 g : 20; E64 h : 47; double i; }; unsigned int j; };
// both: 168/8 a@16 b@64 c@128 d@192 e@960:5 f@1024 g@1088:20 h@1152:47 i@1216 j@1280 param 8[168] result 8[168]
struct S662 { E64 a : 4; };
// nvcc: 8/8 a@0:4 param 8[8] result 8[8]
// clang: 8/8 a@0:4 param 8[8] result 1[8]
struct S663 { S273 a; long long b __attribute__((aligned(2))); long long : 0; };
// nvcc: 208/16 a@0 a.a@0:27 a.b@32:7 a.c@64:28 a.d@128 a.d[0].a@128 a.d[0].b@384 a.d[0].b.a@384 a.d[0].b.b@640:26 a.d[0].b.c@768 a.d[0].b.c.a@768 a.d[0].b.c.a.a@768 a.d[0].b.c.b@768 a.d[0].b.c.c@768 a.d[0].b.d@896 a.d[0].b.e@1152:3 a.d[0].b.f@1155:1 a.d[0].b.g@1216 a.d[0].c@1408:41 a.d[0].d@1472:25 a.d[0].e@1504:22 b@1536 param 16[208] result 16[208]
// clang: 208/16 a@0 a.a@0:27 a.b@32:7 a.c@64:28 a.d@128 a.d[0].a@128 a.d[0].b@384 a.d[0].b.a@384 a.d[0].b.b@640:26 a.d[0].b.c@768 a.d[0].b.c.a@768 a.d[0].b.c.a.a@768 a.d[0].b.c.b@768 a.d[0].b.c.c@768 a.d[0].b.d@896 a.d[0].b.e@1152:3 a.d[0].b.f@1155:1 a.d[0].b.g@1216 a.d[0].c@1408:41 a.d[0].d@1472:25 a.d[0].e@1504:22 b@1536 param 16[208] result 8[208]
struct __attribute__((aligned(1))) S664 { struct { uint64_t a; long b[4]; signed char c : 5; unsigned int d : 27; }; unsigned int e; int8_t f[3][2]; signed char g : 2; signed char h : 8; unsigned long i : 34 __attribute__((aligned(8))); };
// both: 72/8 a@0 b@64 c@320:5 d@325:27 e@384 f@416 g@464:2 h@472:8 i@512:34 param 8[72] result 8[72]
struct S665 { short a : 13; size_t b __attribute__((packed)); signed char c : 7; unsigned short d : 6; };
// nvcc: 12/2 a@0:13 b@16 c@80:7 d@87:6 param 2[12] result 2[12]
// clang: 12/2 a@0:13 b@16 c@80:7 d@87:6 param 2[12] result 1[12]
union S666 { unsigned long a : 5; unsigned char b : 3; char c; long d : 13; longlong1 e; unsigned char f : 2; };
// both: 8/8 a@0:5 b@0:3 c@0 d@0:13 e@0 f@0:2 param 8[8] result 8[8]
union S667 { short a : 9; };
// both: 2/2 a@0:9 param 2[2] result 2[2]
struct __attribute__((packed)) S668 { unsigned int : 1; S633 a; };
// both: 77/1 a@8 a.a@8:7 a.b@32 a.c@96:28 a.d@160 a.e@352:5 a.f@384 a.g@416 a.h@480:8 a.i@608:1 param 1[77] result 1[77]
union S669 { unsigned char a : 8; uint16_t b : 14; double * c[4]; unsigned long d : 17; float * e; };
// both: 32/8 a@0:8 b@0:14 c@0 d@0:17 e@0 param 8[32] result 8[32]
struct S670 { bool a : 1; int b : 24; struct { bool c : 1; }; size_t d; unsigned long e : 26; int f : 26; };
// both: 24/8 a@0:1 b@1:24 c@32:1 d@64 e@128:26 f@160:26 param 8[24] result 8[24]
struct S671 { int * a __attribute__((aligned(64))); E64 b : 38; };
// nvcc: 64/64 a@0 b@64:38 param 64[64] result 64[64]
// clang: 64/64 a@0 b@64:38 param 64[64] result 8[64]
union S672 { unsigned char : 8; float3 a; long b : 39 __attribute__((aligned(8))); };
// both: 16/8 a@0 b@0:39 param 8[16] result 8[16]
struct S673 { short a; ulonglong2 b[3][1]; E8 : 4; int c : 3; int3 d; };
// nvcc: 80/16 a@0 b@128 c@516:3 d@544 param 16[80] result 16[80]
// clang: 80/16 a@0 b@128 c@516:3 d@544 param 16[80] result 8[80]
struct S674 { struct { unsigned long a : 55; int b : 9; }; S534 c; };
// both: 48/16 a@0:55 b@55:9 c@128 c.a@128 c.b@256 c.c@264 c.d@288:22 c.e@320 param 16[48] result 16[48]
struct __attribute__((packed)) S675 { E8 : 1; };
// both: 1/1 param 1[1] result 1[1]
union __attribute__((aligned(8))) S676 { unsigned short : 9; uint16_t : 4; unsigned short a : 6; size_t b; char c; };
// both: 8/8 a@0:6 b@0 c@0 param 8[8] result 8[8]
struct S677 { int8_t a; unsigned int b : 8; short c : 3; };
// nvcc: 4/4 a@0 b@8:8 c@16:3 param 4[4] result 4[4]
// clang: 4/4 a@0 b@8:8 c@16:3 param 4[4] result 1[4]
struct S678 { unsigned char a; struct { struct { long b : 59; }; short c : 9; unsigned int d : 11; E32 : 8; S485 e __attribute__((aligned(4))); }; };
// both: 32/8 a@0 b@64:59 c@128:9 d@137:11 e@192 e.a@192:57 e.b@192 param 8[32] result 8[32]
union S679 { unsigned char a : 7; long long b : 41; };
// both: 8/8 a@0:7 b@0:41 param 8[8] result 8[8]
struct __attribute__((packed)) S680 { unsigned char a : 2; long long * b; };
// both: 9/1 a@0:2 b@8 param 1[9] result 1[9]
struct __attribute__((packed)) S681 { float2 a __attribute__((aligned(4))); char b; };
// both: 12/4 a@0 b@64 param 4[12] result 4[12]
struct S682 { bool a; unsigned long long b : 50; E c; E64 d : 2; long long e : 61; };
// both: 24/8 a@0 b@8:50 c@64 d@96:2 e@128:61 param 8[24] result 8[24]
struct S683 { };
// both: 1/1 param 1[1] result 1[1]
struct S684 { int8_t a[2] __attribute__((aligned(16))); };
// nvcc: 16/16 a@0 param 16[16] result 16[16]
// clang: 16/16 a@0 param 16[16] result 1[16]
struct S685 { unsigned long a : 18 __attribute__((packed)); long long b : 28; };
// both: 8/8 a@0:18 b@18:28 param 8[8] result 8[8]
struct S686 { uchar1 a; int b[2] __attribute__((packed)); };
// both: 9/1 a@0 b@8 param 1[9] result 1[9]
struct S687 { struct { unsigned long a : 37; unsigned int b; int c; unsigned short d : 4; long e; bool f : 1; }; ushort4 g; struct __attribute__((aligned(8))) { int h : 21; unsigned long : 26; short2 i[4]; int j : 12; unsigned char k : 6; int * l[3]; }; uint16_t m : 1 __attribute__((aligned(2))); };
// both: 112/8 a@0:37 b@64 c@96 d@128:4 e@192 f@256:1 g@320 h@384:21 i@448 j@576:12 k@592:6 l@640 m@832:1 param 8[112] result 8[112]
struct S688 { E16 : 0; unsigned long long a : 54; float4 b; S353 c; size_t d; int : 0; };
// nvcc: 48/16 a@0:54 b@128 c@256 c.a@256:27 c.b@256:12 c.c@256:18 c.d@256:4 d@320 param 16[48] result 16[48]
// clang: 48/16 a@0:54 b@128 c@256 c.a@256:27 c.b@256:12 c.c@256:18 c.d@256:4 d@320 param 16[48] result 8[48]
struct S689 { int a : 25; S567 b; struct { long long c; ushort3 d[2]; long e : 64 __attribute__((aligned(64))); struct { signed char f : 2; unsigned short g : 10; unsigned __int128 * h; uint16_t i : 1; bool j : 1 __attribute__((aligned(4))); long long k : 53; }; short1 l[2][4] __attribute__((packed)); }; E8 m : 3; short n : 6; size_t o; };
// nvcc: 320/64 a@0:25 b@64 b.a@64 b.b@132:3 b.c@160 b.c.a@160:4 b.c.b@288:59 b.c.c@288 b.c.d@288:31 b.c.e@288 b.c.f@544 b.c.g@672:13 b.c.h@685:18 b.c.i@736 b.d@800 c@1024 d@1088 e@1536:64 f@1600:2 g@1602:10 h@1664 i@1728:1 j@1760:1 k@1792:53 l@1856 m@2048:3 n@2051:6 o@2112 param 64[320] result 64[320]
// clang: 320/64 a@0:25 b@64 b.a@64 b.b@132:3 b.c@160 b.c.a@160:4 b.c.b@288:59 b.c.c@288 b.c.d@288:31 b.c.e@288 b.c.f@544 b.c.g@672:13 b.c.h@685:18 b.c.i@736 b.d@800 c@1024 d@1088 e@1536:64 f@1600:2 g@1602:10 h@1664 i@1728:1 j@1760:1 k@1792:53 l@1856 m@2048:3 n@2051:6 o@2112 param 64[320] result 8[320]
struct S690 { struct { struct { unsigned __int128 a; unsigned int b : 11; long3 c[3] __attribute__((packed)); }; char d : 3 __attribute__((packed)); unsigned __int128 * e; unsigned short f : 4; unsigned int g : 26; }; uint16_t h : 2; ulonglong3 i __attribute__((aligned(16))); long j : 35; };
// nvcc: 176/16 a@0 b@128:11 c@144 d@768:3 e@832 f@896:4 g@900:26 h@1024:2 i@1152 j@1344:35 param 16[176] result 16[176]
// clang: 176/16 a@0 b@128:11 c@144 d@768:3 e@832 f@896:4 g@900:26 h@1024:2 i@1152 j@1344:35 param 16[176] result 8[176]
union __attribute__((packed)) S691 { short a : 8; float1 b[4]; char : 1; int c : 22; };
// nvcc: 16/1 a@0:8 b@0 c@0:22 param 1[16] result 1[16]
// clang: 16/1 a@0:8 b@0 c@0:22 param 4[16] result 4[16]
struct S692 { long long a; unsigned long b : 7; unsigned long long c : 19; float d; };
// both: 16/8 a@0 b@64:7 c@71:19 d@96 param 8[16] result 8[16]
struct S693 { uchar4 a; };
// nvcc: 4/4 a@0 param 4[4] result 4[4]
// clang: 4/4 a@0 param 4[4] result 1[4]
union __attribute__((packed)) S694 { struct { short a : 1; unsigned long long b : 2; }; bool c : 1; int d __attribute__((aligned(2))); };
// nvcc: 8/2 a@0:1 b@1:2 c@0:1 d@0 param 2[8] result 2[8]
// clang: 8/2 a@0:1 b@1:2 c@0:1 d@0 param 4[8] result 4[8]
struct __attribute__((aligned(64))) S695 { uint16_t a : 15; short : 0; struct __attribute__((aligned(4))) { char b : 5; unsigned int : 26; }; S512 c __attribute__((packed)); bool d; };
// nvcc: 64/64 a@0:15 b@32:5 c@64 c.a@64 d@128 param 64[64] result 64[64]
// clang: 64/64 a@0:15 b@32:5 c@64 c.a@64 d@128 param 64[64] result 8[64]
struct __attribute__((packed)) S696 { ulonglong3 a; bool b : 1; unsigned long : 1; bool c : 1; };
// both: 25/1 a@0 b@192:1 c@194:1 param 1[25] result 1[25]
struct S697 { };
// both: 1/1 param 1[1] result 1[1]
struct S698 { bool : 1; struct __attribute__((aligned(64))) { signed char a : 1; }; double2 b; E8 c : 6; short d : 1; unsigned int : 2; };
// nvcc: 192/64 a@512:1 b@1024 c@1152:6 d@1158:1 param 64[192] result 64[192]
// clang: 192/64 a@512:1 b@1024 c@1152:6 d@1158:1 param 64[192] result 8[192]
struct S699 { unsigned short a : 5; struct { unsigned char b : 6; }; int2 c[3]; float d __attribute__((packed)); unsigned int e : 25; long f : 41; };
// both: 48/8 a@0:5 b@8:6 c@64 d@256 e@288:25 f@320:41 param 8[48] result 8[48]
