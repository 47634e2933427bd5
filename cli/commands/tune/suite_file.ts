/**
 * The suite file of `tune`, and why a kernel file cannot be in its place.
 *
 * @module
 */

import { object } from "@optique/core/constructs";
import { optional } from "@optique/core/modifiers";
import { argument } from "@optique/core/primitives";
import { findSimilar } from "@optique/core/suggestion";
import { UserError } from "../../../bench/model/errors.ts";
import { isFile, isSource } from "../../../session/cases.ts";
import { about } from "../../options/flags.ts";
import { reader } from "../../options/readers.ts";

/** Declares the argument. @param parts The names that may be mistyped in its place. */
export function suiteFileFlags(parts: readonly string[]) {
  return object("Suite file", {
    file: optional(argument(suiteFile(parts), {
      ...about("A suite file, as with --suite."),
      errors: { invalidValue: (error) => error },
    })),
  });
}

/** Reads the path of a suite file. A kernel's source makes a suite too, but without tunables. */
function suiteFile(parts: readonly string[]) {
  return reader<string>({
    metavar: "FILE",
    placeholder: "my_suite.ts",
    read(input) {
      if (isSource(input)) {
        throw new UserError(
          `Cannot tune ${input}: a kernel file declares no tunables, so there is nothing to search; name a suite file that does, such as examples/tuning/suite.ts`,
        );
      }
      if (isFile(input)) return input;
      const [near] = findSimilar(input, parts);
      throw new UserError(
        `Unexpected subcommand or file: \`${input}\`${
          near === undefined
            ? "; a suite file ends in .ts or .js, and a built-in suite follows --suite"
            : `. Did you mean \`${near}\`?`
        }`,
      );
    },
  });
}

/** Returns `options` with the suite of their file. @throws {UserError} Where suites are named too. */
export function withSuiteFile<
  T extends {
    readonly file?: string | undefined;
    readonly suites: readonly string[];
  },
>(options: T): T {
  const { file, suites } = options;
  if (file === undefined) return options;
  if (suites.length === 0) return { ...options, suites: [file] };
  throw new UserError(
    `Cannot take both ${file} and --suite ${suites.join()}: leave out one`,
  );
}
