/**
 * Lint rules of this repository: which folder may import which, and which may touch what
 * is outside the program. Tests may do anything.
 *
 * @module
 */

/** The folders that each folder may import; `root` is a file beside the folders. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  bench: [],
  backends: ["bench"],
  kernels: ["bench"],
  report: ["bench"],
  suites: ["bench", "kernels"],
  peers: ["bench", "kernels"],
  session: [
    ...["bench", "backends", "kernels", "peers", "report", "suites", "root"],
  ],
  root: [
    "bench",
    "backends",
    "kernels",
    "peers",
    "report",
    "session",
    "suites",
  ],
  // As a program elsewhere does, they import `mnkbench` alone.
  examples: ["root"],
  tools: [
    "bench",
    "backends",
    "kernels",
    "report",
    "session",
    "suites",
    "root",
  ],
  cli: [
    ...["bench", "backends", "kernels", "peers", "report", "session", "suites"],
    "root",
  ],
};
const FOREIGN = /^(dlopen|Unsafe\w*|PointerValue|PointerObject)$/;
const SPEAKING = ["cli", "examples", "tools"];
/** Programs outside of these, each a process of its own. */
const PROGRAMS = ["session/worker.ts", "session/suite_trial.ts"];

const ROOT = new URL("../", import.meta.url).pathname;

/** The path of `file` below the repository, wherever that is. */
function below(file: string): string {
  const path = file.replaceAll("\\", "/");
  return path.startsWith(ROOT) ? path.slice(ROOT.length) : path;
}

/** The folder that `path` belongs to, if it is one with rules. */
function layerOf(path: string): string | undefined {
  const [folder, ...rest] = path.split("/");
  if (rest.length === 0) return "root";
  return folder !== undefined && folder in MAY_IMPORT ? folder : undefined;
}

/** The layer that `specifier` leads to from `path`; nothing for a package. */
function targetOf(specifier: string, path: string): string | undefined {
  if (/^mnkbench(\/|$)/.test(specifier)) return "root";
  if (!specifier.startsWith(".")) return undefined;
  const url = new URL(specifier, `file:///${path}`);
  return layerOf(url.pathname.slice(1));
}

/** Returns whether `path` is a test, or a program that only tests start. */
function isTest(path: string): boolean {
  return /_test\.ts$|(^|\/)testdata\//.test(path);
}

const imports: Deno.lint.Rule = {
  create(context) {
    const path = below(context.filename);
    const layer = layerOf(path);
    if (layer === undefined || isTest(path)) return {};
    const check = (source: unknown, node: Deno.lint.Node) => {
      if (typeof source !== "string") return;
      const target = targetOf(source, path);
      if (target === undefined || target === layer) return;
      const may = MAY_IMPORT[layer]!;
      if (may.includes(target)) return;
      context.report({
        node,
        message:
          `${layer} may not import ${target} (${source}): it may import ${
            may.length > 0 ? may.join(", ") : "no other folder"
          }`,
      });
    };
    return {
      ImportDeclaration: (node) => check(node.source.value, node),
      ExportAllDeclaration: (node) => check(node.source.value, node),
      ExportNamedDeclaration: (node) => check(node.source?.value, node),
      ImportExpression: (node) =>
        check(
          node.source.type === "Literal" ? node.source.value : undefined,
          node,
        ),
    };
  },
};

const outside: Deno.lint.Rule = {
  create(context) {
    const path = below(context.filename);
    const layer = layerOf(path);
    if (layer === undefined || isTest(path)) return {};
    const check = (name: string, node: Deno.lint.Node) => {
      if (FOREIGN.test(name) && layer !== "backends") {
        const message =
          `Deno.${name} is for backends only: put the call behind the device contract`;
        context.report({ node, message });
      }
      const speaks = SPEAKING.includes(layer) || PROGRAMS.includes(path);
      if (["args", "exit"].includes(name) && !speaks) {
        const message =
          `Deno.${name} is for cli and tools only: take a value, or throw`;
        context.report({ node, message });
      }
    };
    return {
      MemberExpression(node) {
        const { object, property } = node;
        const named = property.type === "Identifier" ? property.name : "";
        if (isGlobal(object, "Deno")) check(named, node);
        if (isGlobal(object, "console") && !SPEAKING.includes(layer)) {
          const message =
            "console is for cli and tools only: return text, or take a function";
          context.report({ node, message });
        }
      },
      TSQualifiedName({ left, right }) {
        if (isGlobal(left, "Deno")) check(right.name, right);
      },
      VariableDeclarator({ id, init }) {
        if (id.type !== "ObjectPattern" || !isGlobal(init, "Deno")) return;
        for (const property of id.properties) {
          if (property.type !== "Property") continue;
          const { key } = property;
          if (key.type === "Identifier") check(key.name, property);
        }
      },
    };
  },
};

/** Returns whether `node` is the global `name`, also by way of `globalThis`. */
function isGlobal(node: Deno.lint.Node | null, name: string): boolean {
  if (node?.type === "Identifier") return node.name === name;
  return node?.type === "MemberExpression" &&
    node.property.type === "Identifier" && node.property.name === name &&
    isGlobal(node.object, "globalThis");
}

/** The rules, for `lint.plugins` of `deno.json`. */
const plugin: Deno.lint.Plugin = {
  name: "mnkbench",
  rules: { imports, outside },
};

export default plugin;
