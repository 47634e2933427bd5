/**
 * A limit for what cannot be stopped.
 *
 * @module
 */

/**
 * What `work` gives within `ms` milliseconds. Where it takes longer it goes on, and whatever
 * comes of it is dropped.
 *
 * @throws {Error} What `late` gives, where it takes longer.
 */
export async function within<T>(
  ms: number,
  { work, late }: { readonly work: Promise<T>; late(): Error },
): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), ms);
  });
  try {
    // What loses the race is heard of by nobody, not even where it fails.
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}
