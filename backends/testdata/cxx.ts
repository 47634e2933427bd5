/**
 * Tests that build with a C++ compiler.
 *
 * @module
 */

const hasCompilers = ["cc", "c++"].every((compiler) => {
  try {
    return new Deno.Command(compiler, { args: ["--version"] }).outputSync()
      .success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
});

/** Registers a test that needs a C and a C++ compiler; its name says so where one is missing. */
export function cxxTest(name: string, fn: () => void | Promise<void>): void {
  Deno.test({
    name: hasCompilers
      ? name
      : `${name} (ignored: no cc or no c++ on the path)`,
    ignore: !hasCompilers,
    fn,
  });
}
