/**
 * Writes a file into a comment of a pull request: one comment, which later runs update. The last
 * step of `action.yml`.
 *
 * Usage: `pull_request_comment.ts NUMBER FILE`, with `GITHUB_TOKEN`, `GITHUB_REPOSITORY` and
 * `GITHUB_API_URL` in the environment. A token that may not write, as that of a fork's pull
 * request, is a warning and no failure: the step summary has the same text.
 *
 * @module
 */

/** The first line of the comment, which nobody sees. */
const MARKER = "<!-- mnkbench compare -->";
/** Characters of a comment at most; GitHub's limit is 65,536. */
const MOST = 65_000;
const PER_PAGE = 100;

const [number = "", file = ""] = Deno.args;
const {
  GITHUB_TOKEN: token,
  GITHUB_REPOSITORY: repository,
  GITHUB_API_URL: api = "https://api.github.com",
} = Deno.env.toObject();

/** A comment, as far as it is read. */
interface Comment {
  readonly id: number;
  readonly body?: string | null;
}

/** Asks GitHub's API. @throws {Error} Where it refuses. */
async function ask<T>(
  method: string,
  path: string,
  body?: { readonly body: string },
): Promise<T> {
  const response = await fetch(`${api}/repos/${repository}/issues/${path}`, {
    method,
    headers: {
      accept: "application/vnd.github+json",
      authorization: `Bearer ${token}`,
      "x-github-api-version": "2022-11-28",
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (response.ok) return await response.json();
  throw new Error(`${method} ${path}: ${response.status}`);
}

/** Returns the comment of an earlier run. */
async function earlier(): Promise<Comment | undefined> {
  for (let page = 1;; page++) {
    const query = `per_page=${PER_PAGE}&page=${page}`;
    const comments = await ask<readonly Comment[]>(
      "GET",
      `${number}/comments?${query}`,
    );
    const found = comments.find(({ body }) => body?.startsWith(MARKER));
    if (found !== undefined || comments.length < PER_PAGE) return found;
  }
}

const text = await Deno.readTextFile(file);
const body = {
  body: `${MARKER}\n${
    text.length > MOST
      ? `${
        text.slice(0, text.lastIndexOf("\n", MOST))
      }\n\nThe step summary has the rest.`
      : text
  }`,
};
try {
  const comment = await earlier();
  await (comment === undefined
    ? ask("POST", `${number}/comments`, body)
    : ask("PATCH", `comments/${comment.id}`, body));
} catch (error) {
  const said = error instanceof Error ? error.message : `${error}`;
  console.log(
    `::warning::Cannot write the comment (${said}): give the job \`pull-requests: write\`; the step summary has the table`,
  );
}
