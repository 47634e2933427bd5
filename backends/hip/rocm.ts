/**
 * Finds ROCm's libraries: on the loader's path, then in its own folders.
 *
 * @module
 */

import {
  type Host,
  type Opened,
  openFirst,
  type Places,
} from "../shared/find_library.ts";

/** Returns ROCm's folders, the preferred first: named ones, then the newest. */
export function rocmRoots(host: Host): readonly string[] {
  const versions = host.list("/opt")
    .filter((name) => name.startsWith("rocm-"))
    .sort((a, b) => b.localeCompare(a, "en", { numeric: true }));
  const named = [host.env("ROCM_PATH"), host.env("HIP_PATH")]
    .filter((folder) => folder !== undefined && folder !== "");
  const all = [
    ...named,
    "/opt/rocm",
    ...versions.map((name) => `/opt/${name}`),
  ];
  return [...new Set(all as string[])];
}

/**
 * Opens the first library of `names`: by name on the loader's path, then in ROCm's folders.
 */
export function openRocm<T>(
  names: readonly string[],
  { host, paths }: Places,
  open: (path: string) => T,
): Opened<T> {
  if (paths) return openFirst(paths, open);
  const folders = rocmRoots(host).map((root) => `${root}/lib`);
  const found = folders.flatMap((folder) => {
    const there = host.list(folder);
    return names.filter((name) => there.includes(name))
      .map((name) => `${folder}/${name}`);
  });
  const opened = openFirst([...names, ...found], open);
  if ("value" in opened) return opened;
  return { reason: `${opened.reason}; looked in ${folders.join(", ")}` };
}
