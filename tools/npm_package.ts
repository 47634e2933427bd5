/**
 * Builds the npm package `mnkbench`: the program as JavaScript, as Deno refuses TypeScript in
 * `node_modules`, with declarations of types, the sources of kernels and the recorded rows in the
 * same layout, and a command that starts it by the Deno of the package `deno`.
 *
 * `deno task npm [FILE]` writes the archive.
 *
 * @module
 */

import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Loader, type Plugin, stop } from "esbuild";
import ts from "typescript";
import { makeTemporary } from "../bench/files/lock.ts";
import { runProgram } from "../bench/files/run_program.ts";
import config from "../deno.json" with { type: "json" };
import { IMPORT_MAP_FILE, NAME, PERMISSIONS } from "../session/home.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
/** The folders and files of the program; `examples` has what `init` copies. */
const PARTS = [
  ...["backends", "bench", "cli", "emulator", "kernels", "peers", "report"],
  ...["session", "suites", "results", "mod.ts", "LICENSE", "README.md"],
  "docs/schema",
  ...["examples/c-kernel", "examples/ci", "examples/cuda-kernel"],
];
/** What only tests use, what the page's script is made of, and samples, which are large. */
const LEFT_OUT =
  /_test\.\w+$|(^|\/)(testdata|tests)(\/|$)|^report\/page\/browser\/.*\.ts$|\.jsonl\.gz$/;

/** The files of the package that are in this repository. */
function* filesBelow(path: string): Generator<string> {
  if (LEFT_OUT.test(path)) return;
  if (Deno.statSync(join(ROOT, path)).isFile) return yield path;
  for (const { name } of Deno.readDirSync(join(ROOT, path))) {
    yield* filesBelow(join(path, name));
  }
}

/** A package that is imported: its name on npm and its exact version. */
function packageOf(
  specifier: string,
): readonly [name: string, version: string, path: string] {
  const known: Readonly<Record<string, string>> = config.imports;
  const key = Object.keys(known).find((name) =>
    name === specifier || (name.endsWith("/") && specifier.startsWith(name)) ||
    specifier.startsWith(`${name}/`)
  );
  const target = known[key ?? ""] ?? "";
  const [, name, version, rest = ""] =
    /^npm:\/?((?:@[^/]+\/)?[^@/]+)@([\d.]+)(\/.*)?$/.exec(target) ?? [];
  if (name === undefined || version === undefined) {
    throw new Error(`deno.json has no package ${specifier}`);
  }
  const more = specifier.slice(key!.length);
  return [name, version, `${name}${rest}${more}`];
}

/** Makes modules of data, by the attribute that imports it. */
const LOADERS: Readonly<Record<string, Loader>> = {
  bytes: "binary",
  json: "json",
  text: "text",
};
/** The URL of a module of the program. */
const MODULE_URL = /(new URL\(\s*"[^"]+)\.ts("\s*,\s*import\.meta\.url)/g;

/** Leaves every module on its own, and names others and packages as Node.js does. */
function eachOnItsOwn(packages: Map<string, string>): Plugin {
  return {
    name: "each on its own",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /.*/ }, ({ path, kind, with: how, resolveDir }) => {
        if (kind === "entry-point") return undefined;
        // Data becomes a part of its module.
        if (how.type !== undefined) {
          return {
            path: path.startsWith(".")
              ? join(resolveDir, path)
              : fileURLToPath(import.meta.resolve(path)),
          };
        }
        if (path.startsWith("node:")) return { path, external: true };
        if (path.startsWith(".")) {
          return { path: path.replace(/\.ts$/, ".js"), external: true };
        }
        const [name, version, target] = packageOf(path);
        packages.set(name, version);
        return { path: target, external: true };
      });
      onLoad({ filter: /.*/ }, async ({ path, with: how }) => {
        const contents = await Deno.readFile(path);
        const loader = LOADERS[how.type ?? ""];
        if (loader !== undefined) return { contents, loader };
        const text = new TextDecoder().decode(contents);
        return {
          contents: text.replaceAll(MODULE_URL, "$1.js$2"),
          loader: "ts",
        };
      });
    },
  };
}

/** Writes the package into the folder `to`. */
async function writePackage(to: string): Promise<void> {
  const files = PARTS.flatMap((part) => [...filesBelow(part)]);
  const isProgram = (file: string) =>
    file.endsWith(".ts") && !file.startsWith("examples/");
  const packages = new Map<string, string>();
  try {
    await build({
      absWorkingDir: ROOT,
      bundle: true,
      charset: "utf8",
      entryPoints: files.filter(isProgram),
      format: "esm",
      legalComments: "none",
      outbase: ROOT,
      outdir: to,
      plugins: [eachOnItsOwn(packages)],
      target: "esnext",
    });
  } finally {
    await stop();
  }
  writeDeclarations(to);
  for (const file of files) {
    if (isProgram(file)) continue;
    const target = join(to, file);
    await Deno.mkdir(dirname(target), { recursive: true });
    await Deno.copyFile(join(ROOT, file), target);
  }
  const json = (content: unknown) => `${JSON.stringify(content, null, 2)}\n`;
  const write = (name: string, text: string) =>
    Deno.writeTextFile(join(to, name), text);
  await write("package.json", json(manifest(packages)));
  await write(IMPORT_MAP_FILE, json({ imports: MODULES }));
  await write("bin.mjs", LAUNCHER);
}

/** The modules that suite files and programs import. */
const MODULES = {
  mnkbench: "./mod.js",
  "mnkbench/session": "./session/mod.js",
};

/** Writes the declarations of {@linkcode MODULES} and of what they import below `to`. */
function writeDeclarations(to: string): void {
  const { diagnostics } = ts.createProgram({
    rootNames: Object.values(MODULES)
      .map((file) => join(ROOT, file.replace(/\.js$/, ".ts"))),
    options: {
      allowImportingTsExtensions: true,
      declaration: true,
      emitDeclarationOnly: true,
      lib: ["lib.esnext.d.ts", "lib.dom.d.ts"],
      module: ts.ModuleKind.Preserve,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      // Deno checks; not all of its types are here.
      noCheck: true,
      outDir: to,
      paths: {
        valibot: [
          fileURLToPath(import.meta.resolve("valibot"))
            .replace(/\.mjs$/, ".d.mts"),
        ],
      },
      resolveJsonModule: true,
      rootDir: ROOT,
      strict: true,
      target: ts.ScriptTarget.ESNext,
      types: [],
    },
  }).emit(undefined, (path, text) => {
    Deno.mkdirSync(dirname(path), { recursive: true });
    Deno.writeTextFileSync(
      path,
      text.replaceAll(/(["'])(\.{1,2}\/[^"']+)\.ts\1/g, "$1$2.js$1"),
    );
  });
  const [first] = diagnostics;
  if (first === undefined) return;
  throw new Error(ts.flattenDiagnosticMessageText(first.messageText, " "));
}

/** Starts the program in Node.js by the Deno of the package `deno`, and ends as it does. */
export const LAUNCHER = `#!/usr/bin/env node
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { fileURLToPath } from "node:url";

const deno = createRequire(import.meta.url)("deno/install_api.cjs").runInstall();
const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const child = spawn(deno, [
  ...${
  JSON.stringify([
    ...["run", "--quiet", "--no-prompt", "--cached-only"],
    ...PERMISSIONS,
  ])
},
  ...["--import-map", path("${IMPORT_MAP_FILE}"), path("cli/main.js")],
  ...process.argv.slice(2),
], { env: { ...process.env, DENO_NO_UPDATE_CHECK: "1" }, stdio: "inherit" });
child.on("error", (error) => {
  console.error(\`error: Cannot start Deno: \${error.message}; install mnkbench again\`);
  process.exitCode = 1;
});
// The child takes the copy of a signal that a terminal sends to both for the same one.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("exit", (code, signal) => {
  process.exitCode = code ?? 128 + constants.signals[signal];
});
`;

function manifest(packages: ReadonlyMap<string, string>) {
  const exports = Object.entries(MODULES).map(([name, file]) => [
    name.replace(/^mnkbench/, "."),
    { types: file.replace(/\.js$/, ".d.ts"), default: file },
  ]);
  return {
    name: NAME,
    version: config.version,
    description: "Checks, times and compares GEMM kernels on GPUs and CPUs",
    license: config.license,
    type: "module",
    bin: { [NAME]: "bin.mjs" },
    exports: Object.fromEntries(exports),
    dependencies: {
      deno: Deno.version.deno,
      ...Object.fromEntries([...packages].toSorted()),
    },
  };
}

/** Writes the package as the archive `out`, which npm installs and publishes. */
export async function packPackage(out: string): Promise<void> {
  using stage = makeTemporary(`${NAME}-npm-`);
  await writePackage(join(stage.path, "package"));
  await Deno.chmod(join(stage.path, "package/bin.mjs"), 0o755);
  const { success, stderr } = await runProgram("tar", {
    args: ["-czf", resolve(out), "-C", stage.path, "package"],
    limitMs: 60_000,
  });
  if (!success) throw new Error(`tar failed: ${stderr.trim()}`);
}

if (import.meta.main) {
  const [out = `${NAME}-${config.version}.tgz`] = Deno.args;
  await packPackage(out);
  console.log(out);
}
