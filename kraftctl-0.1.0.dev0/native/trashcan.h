/* What the C compiler reads before each file that mypyc generates.

   CPython's trashcan defers what is released 50 levels deep, and links it through the header of the
   cyclic collector. mypyc 2.4 emits the trashcan for classes with @mypyc_attr(acyclic=True) as well:
   they have no such header, so the link was written into the 8 bytes before the object, which belong
   to another one. Here the trashcan passes them by; the containers around them still bound the stack. */

#include <CPy.h>

#undef CPy_TRASHCAN_BEGIN
#define CPy_TRASHCAN_BEGIN(op, dealloc) \
    Py_TRASHCAN_BEGIN(op, (PyType_IS_GC(Py_TYPE(op)) ? (destructor)(dealloc) : NULL))
