/* Mutants: mistakes in kernels that tests can switch on, to see that they are caught.
 *
 * MUTANT(name) is the constant 0, except in a build that defines MUTANT_name as 1: there it is 1,
 * and the kernel is wrong in one way. It also works in `#if`.
 *
 *   if (!MUTANT(ring_no_wait)) wait_copies();      the mutant does not wait
 *   for (int k = 0; k < K - MUTANT(skip_k); k++)   the mutant leaves out the last k
 *
 * To read a kernel, read 0 for each MUTANT(...). A name is at one site in all sources, and in the
 * lists kernels/<op>/testdata/<api>_mutants.ts, which say at which shape and config tests must
 * catch it; kernels/mutants_test.ts compares both.
 */
#ifndef MNKBENCH_MUTANT
#define MNKBENCH_MUTANT

/* As IS_ENABLED of Linux: of a MUTANT_name that is defined as 1 there becomes (0, 1, 0, 0), of
 * one that is not (MUTANT_IS_MUTANT_name 1, 0, 0); the second part is taken. */
#define MUTANT(name) MUTANT_VALUE(MUTANT_##name)
#define MUTANT_VALUE(value) MUTANT_PART(value)
#define MUTANT_PART(value) MUTANT_CHOICE(MUTANT_IS_##value)
#define MUTANT_CHOICE(first) MUTANT_SECOND(first 1, 0, 0)
#define MUTANT_SECOND(first, second, ...) second
#define MUTANT_IS_1 0,

#endif
