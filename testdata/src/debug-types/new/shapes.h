struct Shape { int kind; double area; float w, h; };
namespace geo { struct Span { int from; short unit; int to; }; }
struct Flags { unsigned visible : 1; unsigned layer : 5; unsigned color : 3; };
struct alignas(16) Quad { float x, y, z, w; };
