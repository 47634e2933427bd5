import { assert, assertEquals, assertMatch } from "@std/assert";
import { parse } from "@std/yaml";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  array,
  object,
  optional,
  parse as checked,
  record,
  string,
  unknown,
} from "valibot";
import { temporary } from "../bench/testdata/temporary.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));

const actionSchema = object({
  inputs: record(
    string(),
    object({ description: string(), default: optional(string()) }),
  ),
  outputs: record(string(), object({ value: string() })),
  runs: object({
    using: string(),
    steps: array(object({
      shell: string(),
      run: string(),
      env: record(string(), string()),
      if: optional(unknown()),
    })),
  }),
});

function action() {
  return checked(
    actionSchema,
    parse(Deno.readTextFileSync(join(ROOT, "action.yml"))),
  );
}

Deno.test("action.yml is a composite action whose inputs reach the shell as variables", () => {
  const { inputs, outputs, runs } = action();
  assertEquals(runs.using, "composite");
  const values = runs.steps.flatMap(({ env }) => Object.values(env)).join("\n");
  for (const { run, shell } of runs.steps) {
    assertEquals(shell, "bash");
    // Text in a script would be run.
    assert(!run.includes("${{"), run);
    const file = /\$GITHUB_ACTION_PATH\/([\w./]+)/.exec(run)?.[1];
    if (file !== undefined) Deno.statSync(join(ROOT, file));
  }
  for (const name of ["base", "options", "token"]) {
    assert(
      Object.hasOwn(inputs, name) && values.includes(`inputs.${name} `),
      name,
    );
  }
  assertMatch(outputs.code!.value, /steps\.compare\.outputs\.code/);
});

/** Runs `args` with nothing of this environment but the path and `env`. */
async function run(
  args: readonly string[],
  cwd: string,
  env: Record<string, string>,
) {
  const [program, ...rest] = args;
  const { code, stdout, stderr } = await new Deno.Command(program!, {
    args: rest,
    cwd,
    clearEnv: true,
    env: {
      PATH: Deno.env.get("PATH")!,
      HOME: Deno.env.get("HOME")!,
      GIT_AUTHOR_NAME: "n",
      GIT_AUTHOR_EMAIL: "n@n",
      GIT_COMMITTER_NAME: "n",
      GIT_COMMITTER_EMAIL: "n@n",
      ...env,
    },
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, stdout: text(stdout), stderr: text(stderr) };
}

Deno.test("the action's first step fetches the base and takes options as words", async () => {
  using folder = temporary();
  const at = (name: string) => join(folder.path, name);
  const git = async (cwd: string, ...args: string[]) => {
    const ran = await run(["git", ...args], cwd, {});
    assertEquals(ran.code, 0, ran.stderr);
    return ran.stdout.trim();
  };
  Deno.mkdirSync(at("origin"));
  await git(at("origin"), "init", "--quiet");
  for (const name of ["one", "two"]) {
    await git(at("origin"), "commit", "--quiet", "--allow-empty", "-m", name);
  }
  const base = await git(at("origin"), "rev-parse", "HEAD~1");
  await git(
    folder.path,
    "clone",
    "--quiet",
    "--depth=1",
    `file://${at("origin")}`,
    "clone",
  );
  // Stands for deno: says its arguments and exits as `compare` would.
  Deno.writeTextFileSync(
    at("deno"),
    '#!/bin/sh\nprintf "%s\\n" "INIT_CWD=$INIT_CWD" "$@"\nexit 4\n',
    { mode: 0o755 },
  );
  const { code, stderr } = await run([join(ROOT, ".ci/compare")], at("clone"), {
    BASE: base,
    OPTIONS: "--suite\n./my suite.ts\n\n--kernel\n$(touch ran); *\n",
    DENO: at("deno"),
    INIT_CWD: "elsewhere",
    GITHUB_ACTION_PATH: "/action",
    GITHUB_STEP_SUMMARY: at("summary"),
    GITHUB_OUTPUT: at("output"),
    RUNNER_TEMP: folder.path,
  });
  assertEquals(code, 0, stderr);
  assertEquals(Deno.readTextFileSync(at("summary")).trim().split("\n"), [
    "INIT_CWD=",
    ...["task", "--config", "/action/deno.json", "--quiet"],
    ...["compare", `${base}..HEAD`, "--format", "md"],
    ...["--suite", "./my suite.ts", "--kernel", "$(touch ran); *"],
  ]);
  assertEquals(
    Deno.readTextFileSync(at("output")),
    `code=4\nmarkdown=${at("mnkbench.md")}\n`,
  );
  await git(at("clone"), "cat-file", "-e", `${base}^{commit}`);
  assertEquals(await git(at("clone"), "status", "--porcelain"), "");
});

Deno.test("the action's comment is written once and then updated", async () => {
  using folder = temporary();
  const file = join(folder.path, "table.md");
  // More than a page, of others.
  const comments = Array.from(
    { length: 120 },
    (_, id) => ({ id, body: `text ${id}` }),
  );
  const calls: string[] = [];
  let refuses = false;
  await using server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    async (request) => {
      const { pathname, searchParams } = new URL(request.url);
      assertEquals(request.headers.get("authorization"), "Bearer secret");
      if (refuses) return new Response("no", { status: 403 });
      if (request.method === "GET") {
        const from = 100 * (Number(searchParams.get("page")) - 1);
        return Response.json(comments.slice(from, from + 100));
      }
      const { body } = await request.json();
      calls.push(`${request.method} ${pathname}`);
      const id = request.method === "POST"
        ? comments.length
        : Number(pathname.split("/").at(-1));
      comments[id] = { id, body };
      return Response.json({ id });
    },
  );
  const write = async (text: string) => {
    Deno.writeTextFileSync(file, text);
    const script = join(ROOT, "tools/pull_request_comment.ts");
    const ran = await run(
      [Deno.execPath(), "run", "-A", "--no-config", script, "7", file],
      folder.path,
      {
        GITHUB_TOKEN: "secret",
        GITHUB_REPOSITORY: "o/r",
        GITHUB_API_URL: `http://127.0.0.1:${server.addr.port}`,
      },
    );
    assertEquals(ran.code, 0, ran.stderr);
    return ran.stdout;
  };
  assertEquals(await write("first"), "");
  assertEquals(await write(`second\n${"x".repeat(70_000)}`), "");
  assertEquals(calls, [
    "POST /repos/o/r/issues/7/comments",
    "PATCH /repos/o/r/issues/comments/120",
  ]);
  assertMatch(
    comments[120]!.body,
    /^<!-- mnkbench compare -->\nsecond\n\nThe step summary has the rest\.$/,
  );
  refuses = true;
  assertMatch(
    await write("third"),
    /^::warning::Cannot write the comment .*403\): give the job `pull-requests: write`/,
  );
  assertEquals(calls.length, 2);
});
