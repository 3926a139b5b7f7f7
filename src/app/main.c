/* main.c: the product. test/suites/main.c is another program, of the same commands and some more. */
#include "app/program.h"

int main(int argc, char **argv)
{
    return program_main(program_verbs, argc, argv);
}
