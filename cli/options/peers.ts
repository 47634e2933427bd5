/**
 * The options of peers.
 *
 * @module
 */

import { optional } from "@optique/core/modifiers";
import { option } from "@optique/core/primitives";
import { PEER_SETS, PYTHON_VARIABLE } from "../../bench/model/peer.ts";
import { about, shown } from "./flags.ts";
import { program } from "./readers.ts";

/** The option for peers. @param verb The command's action on them. */
export const peers = (verb = "Measure") =>
  optional(
    option(
      "--peers",
      shown(PEER_SETS),
      about(`${verb} PyTorch and Triton beside our kernels.`),
    ),
  );

/** The option for the Python of peers. */
export const python = () =>
  optional(
    option(
      "--python",
      program("PATH"),
      about(
        `Python with torch and triton (default: ${PYTHON_VARIABLE}, else python3).`,
      ),
    ),
  );
