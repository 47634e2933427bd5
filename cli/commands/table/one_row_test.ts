import { assertMatch, assertStrictEquals } from "@std/assert";
import { hashOf } from "../../../bench/files/hash.ts";
import { temporary } from "../../../bench/testdata/temporary.ts";
import { needsIn } from "./one_row.ts";

const nvcc = await new Deno.Command("nvcc", { args: ["--version"] }).output()
  .then(({ success }) => success, () => false);

Deno.test({
  name: "needsIn() reads the binary of a row, and no other",
  ignore: !nvcc,
  async fn() {
    using folder = temporary();
    const entry = `${folder.path}/mine.0123abcd`;
    Deno.mkdirSync(entry);
    const [source, binary] = [`${entry}/mine.cu`, `${entry}/binary.cubin`];
    Deno.writeTextFileSync(source, `extern "C" __global__ void mine() {}`);
    await new Deno.Command("nvcc", {
      args: ["-arch=sm_90a", "-cubin", source, "-o", binary],
    }).output();
    const row = {
      source_hash: "0123abcd",
      binary_hash: hashOf(Deno.readFileSync(binary)),
    };
    assertMatch(
      needsIn(folder.path, row)!,
      /^mine: \d+ registers, 0 B of local memory a thread$/,
    );
    const others = [
      { ...row, binary_hash: "of another compiler" },
      { ...row, source_hash: "fedcba98" },
      { ...row, source_hash: "" },
    ];
    for (const other of others) {
      assertStrictEquals(needsIn(folder.path, other), undefined);
    }
    assertStrictEquals(needsIn(`${folder.path}/none`, row), undefined);
  },
});
