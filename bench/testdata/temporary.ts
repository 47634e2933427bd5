/**
 * Folders of tests, removed at their end.
 *
 * @module
 */

/** Makes a folder, which is removed with all that is in it. */
export function temporary(): { readonly path: string } & Disposable {
  const path = Deno.makeTempDirSync();
  return {
    path,
    [Symbol.dispose]: () => Deno.removeSync(path, { recursive: true }),
  };
}

/** Gives `test` a folder of its own. */
export async function within(
  test: (folder: string) => unknown,
): Promise<void> {
  using folder = temporary();
  await test(folder.path);
}
