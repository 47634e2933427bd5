import { chosen } from "../testdata/cuda_builds.ts";
import {
  ARCH,
  compileWithoutSpills,
  skipped,
  withoutNvcc,
} from "../../testdata/spills.ts";

Deno.test({
  name:
    `builds() compile for ${ARCH} without spilling or waiting for products${skipped}`,
  ignore: withoutNvcc,
  fn: () => compileWithoutSpills(chosen()),
});
