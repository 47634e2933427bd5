/**
 * Finds libraries, tools and headers of CUDA and ROCm on this machine: on the loader's path,
 * then in their own folders, then, for CUDA, in the pip wheels of the Python on the path,
 * which is never run.
 *
 * @module
 */

/** The parts of a machine that decide where things are. */
export interface Host {
  /** An environment variable. */
  env(name: string): string | undefined;
  /** Names in a folder; none where it cannot be read. */
  list(folder: string): readonly string[];
  /** The target of the symbolic link `path`, if it is one. */
  link(path: string): string | undefined;
}

/** Files to look for. */
export interface LibraryQuery {
  /** File names, the preferred first. */
  readonly names: readonly string[];
  /** Returns the folders that may have them, the preferred first. */
  folders(host: Host): readonly string[];
}

/** This machine. */
export const thisHost: Host = {
  env: (name) => Deno.env.get(name),
  list: (folder) =>
    unlessMissing(() => [...Deno.readDirSync(folder)].map((e) => e.name)) ?? [],
  link: (path) =>
    unlessMissing(() =>
      Deno.lstatSync(path).isSymlink ? Deno.readLinkSync(path) : undefined
    ),
};

function unlessMissing<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    const missing = error instanceof Deno.errors.NotFound ||
      error instanceof Deno.errors.NotADirectory ||
      error instanceof Deno.errors.PermissionDenied;
    if (!missing) throw error;
    return undefined;
  }
}

/** Folders of a CUDA toolkit that have libraries. */
const TOOLKIT_LIBRARIES = ["lib64", "targets/*/lib", "lib"] as const;

/**
 * Returns files of CUDA called `names`.
 *
 * @param wheels Folders below a `site-packages`.
 * @param toolkit Folders below a toolkit, `*` standing for any one name; by default those
 * of libraries.
 */
export function inCuda(
  names: readonly string[],
  wheels: readonly string[],
  toolkit: readonly string[] = TOOLKIT_LIBRARIES,
): LibraryQuery {
  return {
    names,
    folders: (host) =>
      unique([
        ...toolkits(host).flatMap((root) =>
          toolkit.flatMap((below) => expand(root, below, host))
        ),
        ...sitePackages(host).flatMap((root) =>
          wheels.map((below) => `${root}/${below}`)
        ),
      ]),
  };
}

/** Returns libraries of ROCm called `names`. */
export function inRocm(names: readonly string[]): LibraryQuery {
  return {
    names,
    folders: (host) => rocmRoots(host).map((root) => `${root}/lib`),
  };
}

/** Returns the folders of CUDA's toolkits: named ones, then the newest. */
export function toolkits(host: Host): readonly string[] {
  return releases(host, ["CUDA_HOME", "CUDA_PATH"], "/usr/local", "cuda");
}

/** Returns ROCm's folders: named ones, then the newest. */
export function rocmRoots(host: Host): readonly string[] {
  return releases(host, ["ROCM_PATH", "HIP_PATH"], "/opt", "rocm");
}

/** Returns what `variables` name, then `folder/name`, then `folder/name-VERSION`. */
function releases(
  host: Host,
  variables: readonly string[],
  folder: string,
  name: string,
): readonly string[] {
  const versions = host.list(folder)
    .filter((each) => each.startsWith(`${name}-`))
    .sort((a, b) => b.localeCompare(a, "en", { numeric: true }));
  return unique([
    ...variables.map((variable) => host.env(variable) ?? "")
      .filter((named) => named !== ""),
    ...[name, ...versions].map((each) => `${folder}/${each}`),
  ]);
}

/** Returns the folders in `PATH`. */
export function pathFolders(host: Host): readonly string[] {
  return (host.env("PATH") ?? "").split(":").filter((folder) => folder !== "");
}

/** Returns the package folders of the `python3` on the path and of the system's. */
export function sitePackages(host: Host): readonly string[] {
  const home = host.env("HOME");
  const prefixes = [
    ...pythonPrefixes(host),
    ...(home === undefined ? [] : [`${home}/.local`]),
    "/usr/local",
    "/usr",
  ];
  return unique(prefixes).flatMap((prefix) =>
    host.list(`${prefix}/lib`).filter((name) => name.startsWith("python3"))
      .flatMap((python) => {
        const folder = `${prefix}/lib/${python}`;
        return host.list(folder)
          .filter((name) => /^(site|dist)-packages$/.test(name))
          .map((name) => `${folder}/${name}`);
      })
  );
}

/** Every installation that `python3` belongs to: a virtual environment links to another. */
function pythonPrefixes(host: Host): readonly string[] {
  const folder = pathFolders(host)
    .find((each) => host.list(each).includes("python3"));
  if (folder === undefined) return [];
  const prefixes: string[] = [];
  let path: string | undefined = `${folder}/python3`;
  // A chain of links is short; the bound ends a circular one.
  for (let i = 0; path !== undefined && i < 16; i++) {
    const bin = parent(path);
    prefixes.push(parent(bin));
    const to = host.link(path);
    path = to === undefined || to.startsWith("/") ? to : `${bin}/${to}`;
  }
  return prefixes;
}

/** Returns the full paths of `wanted` that exist, the preferred first. */
export function find(wanted: LibraryQuery, host: Host): readonly string[] {
  return wanted.folders(host).flatMap((folder) => {
    const names = host.list(folder);
    return wanted.names.filter((name) => names.includes(name))
      .map((name) => `${folder}/${name}`);
  });
}

/** A library that was opened, or why none was. */
export type Opened<T> =
  | { readonly value: T; readonly path: string }
  | { readonly reason: string };

/**
 * Opens the first library of `paths` that `open` takes. Paths that do not exist are
 * listed in the reason; what else went wrong is quoted there.
 */
export function openFirst<T>(
  paths: readonly string[],
  open: (path: string) => T,
): Opened<T> {
  const tried: string[] = [];
  for (const path of paths) {
    try {
      return { value: open(path), path };
    } catch (error) {
      tried.push(quote(path, error));
    }
  }
  return { reason: `tried ${tried.join(", ")}` };
}

const MISSING = ": cannot open shared object file: No such file or directory";

/** Returns the text of what was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns `path` and what was wrong with it; one that does not exist stands alone. */
function quote(path: string, error: unknown): string {
  const message = messageOf(error);
  if (message.includes(path + MISSING)) return path;
  const short = message.replaceAll("Could not open library: ", "")
    .replace(MISSING, " is missing");
  return `${path} (${short})`;
}

/**
 * Opens the first of `wanted`: by name on the loader's path, then by full path.
 *
 * @param paths The only paths to try, in place of what the host has.
 */
export function openWanted<T>(
  wanted: LibraryQuery,
  { host, paths }: {
    readonly host: Host;
    readonly paths?: readonly string[] | undefined;
  },
  open: (path: string) => T,
): Opened<T> {
  if (paths) return openFirst(paths, open);
  const opened = openFirst([...wanted.names, ...find(wanted, host)], open);
  if ("value" in opened) return opened;
  const looked = wanted.folders(host);
  return looked.length === 0
    ? opened
    : { reason: `${opened.reason}; looked in ${looked.join(", ")}` };
}

function expand(root: string, below: string, host: Host): readonly string[] {
  const [before, after] = below.split("/*/");
  if (after === undefined) return [`${root}/${below}`];
  return host.list(`${root}/${before}`).map((name) =>
    `${root}/${before}/${name}/${after}`
  );
}

function parent(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

function unique(list: readonly string[]): readonly string[] {
  return [...new Set(list)];
}
