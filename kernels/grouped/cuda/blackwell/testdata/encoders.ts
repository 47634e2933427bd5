/**
 * The functions of encoders.h, by cc and FFI.
 *
 * @module
 */

import { assertStrictEquals } from "@std/assert";

const CC = "cc";
const found = (() => {
  try {
    return new Deno.Command(CC, { args: ["--version"] }).outputSync().success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
})();
const options = { ignore: !found };
const skip = found ? "" : " (ignored: no C compiler)";

const [I, U, Q] = ["i32", "u32", "u64"] as const;
const SYMBOLS = {
  test_operand_descriptor: { parameters: [U, I], result: Q },
  test_operand_offset: { parameters: [I, I], result: I },
  test_scale_descriptor: { parameters: [U], result: Q },
  test_instruction_descriptor: { parameters: [I, I], result: U },
  test_tensor_address: { parameters: [U, I, I], result: U },
  test_stage_bytes: { parameters: [I], result: I },
  test_weight_scales_offset: { parameters: [I, I], result: I },
  test_token_scales_offset: { parameters: [I, I, I], result: I },
  test_full_offset: { parameters: [I, I, I], result: I },
  test_empty_offset: { parameters: [I, I, I], result: I },
  test_shared_bytes: { parameters: [I, I], result: I },
  test_weight_scales_column: { parameters: [I, I, I], result: I },
  test_token_scales_column: { parameters: [I, I, I, I], result: I },
  test_token_shift: { parameters: [I], result: I },
  test_tensor_columns: { parameters: [I, I], result: I },
  test_ring_index: { parameters: [I, I], result: I },
  test_full_parity: { parameters: [I, I], result: I },
  test_empty_parity: { parameters: [I, I], result: I },
} as const;

/** The functions of encoders.h. */
function load() {
  const binary = Deno.makeTempFileSync({ suffix: ".so" });
  try {
    const { success, stderr } = new Deno.Command(CC, {
      args: [
        "-shared",
        "-fPIC",
        "-Wall",
        "-Wextra",
        "-Werror",
        new URL("./encoders.c", import.meta.url).pathname,
        "-o",
        binary,
      ],
    }).outputSync();
    assertStrictEquals(success, true, new TextDecoder().decode(stderr));
    return Deno.dlopen(binary, SYMBOLS).symbols;
  } finally {
    Deno.removeSync(binary);
  }
}
type Encoders = ReturnType<typeof load>;

let loaded: Encoders | undefined;
/** A test of encoders.h; ignored without a C compiler. */
export function test(name: string, fn: (encoders: Encoders) => void) {
  Deno.test({
    ...options,
    name: `${name}${skip}`,
    // The library stays open: its functions are shared by the tests.
    sanitizeResources: false,
    fn: () => fn(loaded ??= load()),
  });
}
