/**
 * Mistakes in what files of others may do: kernel caches, suite files.
 *
 * @module
 */

import { type HarnessMutant, inFile } from "../mutant.ts";

const CACHE = "bench/device/binary_cache_test.ts";
const TRIAL = "session/suite_trial_test.ts";

/** The mistakes. */
export const OUTSIDE: readonly HarnessMutant[] = [
  ...inFile("bench/files/private_folder.ts", [CACHE], [
    [
      "the group may write to kernels",
      "const OTHERS_WRITE = 0o022;",
      "const OTHERS_WRITE = 0o002;",
      "a member of the group could plant a kernel",
    ],
    [
      "folders of kernels have the usual mode",
      "{ recursive: true, mode: 0o700 }",
      "{ recursive: true }",
      "under umask 0 everybody could plant a kernel",
    ],
  ]),
  ...inFile("bench/device/binary_cache.ts", [CACHE], [
    [
      "the folder of kernels is not looked at",
      "      demandPrivate(this.dir);\n",
      "",
      "a kernel that somebody planted would run",
    ],
    [
      "entries are not looked at",
      "      demandPrivate(entry);\n",
      "",
      "a kernel that somebody planted would run",
    ],
    [
      "copies are not compared",
      "if (hashOf(bytes) !== binaryHash)",
      "if (bytes.length === 0)",
      "a kernel could be replaced between hashing and loading",
    ],
  ]),
  ...inFile("bench/device/cache_entry.ts", [CACHE], [
    [
      "the original is loaded",
      "    return copy;\n",
      "    return path;\n",
      "a kernel could be replaced between hashing and loading",
    ],
  ]),
  ...inFile("session/suite_trial.ts", [TRIAL], [
    [
      "trials download",
      '  "--cached-only",\n',
      "",
      "a suite file could run what a server gives",
    ],
    [
      "trials write",
      '  "--allow-read",\n',
      '  "--allow-read",\n  "--allow-write",\n',
      "a suite file could change files before it is accepted",
    ],
    [
      "suite files print",
      'if (text !== "") throw',
      "if (text === undefined) throw",
      "rows of --json would have lines that are none",
    ],
  ]),
];
