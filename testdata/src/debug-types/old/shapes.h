// As it was last year.
struct Shape { int kind; double area; };
namespace geo { struct Span { short unit; int from; int to; }; }
struct Flags { unsigned visible : 1; unsigned color : 3; unsigned layer : 5; };
struct Quad { float x, y, z, w; };
